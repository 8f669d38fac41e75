import { canonicalRange, hostsIn, isLoopback, rangesIn } from './address-range';
import { ConfigurationError } from './configuration-error';

/**
 * A rule of the production profile (`NODE_ENV=production`), declared beside the settings that it judges. Returns one
 * sentence if they are unsafe where real money moves. Sees valid settings only.
 */
export type ProductionRule<Config> = (config: Config) => string | undefined;

/** The value of a setting, for rules about settings whose names they do not know; undefined if it is no text. */
export function textIn(config: object, name: string): string | undefined {
  const value = (config as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** What production refuses, all of it at once. @param sentences one for each unsafe setting or fact */
export function refusedInProduction(sentences: readonly string[]): ConfigurationError {
  return new ConfigurationError(`NODE_ENV is production, where this is refused. ${sentences.join(' ')}`);
}

interface PublicPort {
  HOST: string;
  TLS_CERT_FILE?: string;
  TLS_KEY_FILE?: string;
  TRUSTED_PROXY_CIDRS: string;
}

/** A public port beyond loopback needs TLS, here or at a proxy: card numbers and passwords come through it. */
export const publicPortHasTls: ProductionRule<PublicPort> = (config) => {
  const { HOST, TLS_CERT_FILE, TLS_KEY_FILE, TRUSTED_PROXY_CIDRS } = config;
  const ownTls = TLS_CERT_FILE !== undefined && TLS_KEY_FILE !== undefined;
  if (ownTls || rangesIn(TRUSTED_PROXY_CIDRS).length > 0 || hostsIn(HOST).every(isLoopback)) return undefined;
  return (
    `HOST is ${HOST}, where anyone can connect without TLS: ` +
    'set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY_CIDRS for a proxy with TLS.'
  );
};

/** Ranges that no network of proxies needs: whoever is in one is believed about addresses and TLS of clients. */
const MIN_PREFIX_LENGTH = { ipv4: 8, ipv6: 7 } as const;

/** A proxy is believed about clients' addresses and TLS, so everybody must not be one. */
export const proxiesAreFew: ProductionRule<Pick<PublicPort, 'TRUSTED_PROXY_CIDRS'>> = ({ TRUSTED_PROXY_CIDRS }) => {
  const unsafe = rangesIn(TRUSTED_PROXY_CIDRS).filter((range) => !isNarrow(range));
  return unsafe.length === 0
    ? undefined
    : `TRUSTED_PROXY_CIDRS has ${unsafe.join(', ')}, which is no range or too wide for proxies.`;
};

function isNarrow(range: string): boolean {
  const canonical = canonicalRange(range);
  if (canonical === undefined) return false;
  const [address = '', prefixLength] = canonical.split('/');
  return (
    prefixLength === undefined || Number(prefixLength) >= MIN_PREFIX_LENGTH[address.includes(':') ? 'ipv6' : 'ipv4']
  );
}

/** An internal port with routes tells about payments and takes commands: everyone who calls must be known. */
export const callersAreKnown: ProductionRule<{ CALLERS_FILE?: string }> = ({ CALLERS_FILE }) =>
  CALLERS_FILE === undefined
    ? 'CALLERS_FILE is not set, so that everyone on this machine may use the internal port.'
    : undefined;

/** Services that ask others must have an identity: in production, the others ask for one. */
export const hasIdentity: ProductionRule<{ IDENTITY_TOKEN?: string }> = ({ IDENTITY_TOKEN }) =>
  IDENTITY_TOKEN === undefined ? 'IDENTITY_TOKEN is not set, so that other services refuse queries.' : undefined;
