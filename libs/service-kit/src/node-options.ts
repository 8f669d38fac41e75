import type { Environment } from './secret-settings';

/** Flags of Node that production takes: memory, authorities, and what makes a process stricter. */
const FLAGS: ReadonlySet<string> = new Set([
  '--disable-proto',
  '--disable-sigusr1',
  '--dns-result-order',
  '--enable-source-maps',
  '--expose-gc',
  '--frozen-intrinsics',
  '--heap-growing-percent',
  '--max-heap-size',
  '--max-old-space-size',
  '--max-old-space-size-percentage',
  '--max-semi-space-size',
  '--no-deprecation',
  '--no-warnings',
  '--secure-heap',
  '--secure-heap-min',
  '--stack-trace-limit',
  '--tls-min-v1.2',
  '--tls-min-v1.3',
  '--unhandled-rejections',
  '--use-bundled-ca',
  '--use-openssl-ca',
  '--use-system-ca',
]);

/** Variables that Node or OpenSSL reads. `NODE_OPTIONS` has flags, which are looked at one by one. */
const VARIABLES: ReadonlySet<string> = new Set([
  'NODE_DISABLE_COLORS',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'NODE_NO_WARNINGS',
  'NODE_OPTIONS',
  'NODE_USE_SYSTEM_CA',
  // Node does not read these: the base image and manifests of Kubernetes set them.
  'NODE_IP',
  'NODE_NAME',
  'NODE_VERSION',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
]);
const OF_NODE = /^(NODE_|SSL|OPENSSL_)/;

/**
 * One sentence about options that would open the process to others: an inspector, keys of connections in a file,
 * certificates that nobody checks, code that is loaded first. What is not known to be safe is refused.
 *
 * @param execArgv the flags with which Node was started
 */
export function unsafeNodeOptions(env: Environment, execArgv: readonly string[]): string | undefined {
  const variables = Object.keys(env).filter((name) => OF_NODE.test(name) && !VARIABLES.has(name) && env[name] !== '');
  const flags = [...flagsIn(env['NODE_OPTIONS'] ?? ''), ...execArgv].filter((flag) => !isSafe(flag));
  const found = [...variables, ...flags.map(nameOf)];
  return found.length === 0 ? undefined : `Options of Node that production does not take: ${found.join(', ')}.`;
}

function flagsIn(options: string): string[] {
  return options.split(/\s+/).filter((flag) => flag !== '');
}

/** Node takes `_` for `-` in names. A value of its own word (`--max-old-space-size 512`) is a number. */
function isSafe(flag: string): boolean {
  return FLAGS.has(nameOf(flag).replaceAll('_', '-')) || /^\d+$/.test(flag);
}

/** Without its value, which might be a secret. */
function nameOf(flag: string): string {
  return flag.split('=', 1)[0] ?? '';
}
