import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { CommonConfig } from './config';
import { exceptionsIn, showPlainInternalPorts } from './plain-internal-ports';

/** A key that a process holds. */
export interface HeldKey {
  readonly id: string;
  /** Of a pair: the fingerprint of its public half, so that both halves have the same one. */
  readonly fingerprint?: string | undefined;
}

/** Keys that a process holds, by setting, the active one first. */
export type HeldKeys = Readonly<Record<string, readonly HeldKey[]>>;

/** What a replica is, for operators: `/about` of its internal port. */
export interface About {
  service: string;
  version: string;
  /** Git commit. */
  commit: string;
  /** NODE_ENV: whether production's rules apply. */
  profile: string;
  /** Settings that take back a rule of production. Missing in releases before it. */
  exceptions?: readonly string[];
  /** Version of Node. */
  node: string;
  /** Ids, by setting, the active one first. */
  keys: Readonly<Record<string, readonly string[]>>;
  /** Of the keys that belong to pairs, by setting and id. Missing in releases before it. */
  fingerprints?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type AboutConfig = Pick<CommonConfig, 'GATEWAY_VERSION' | 'GATEWAY_COMMIT' | 'NODE_ENV'> &
  Partial<Pick<CommonConfig, 'ALLOW_PLAIN_INTERNAL_PORTS'>>;

/** @param held keys of the settings that the process has read */
export function aboutOf(service: string, config: AboutConfig, held: HeldKeys = {}): About {
  const { GATEWAY_VERSION: version, GATEWAY_COMMIT: commit, NODE_ENV: profile } = config;
  const exceptions = exceptionsIn(config);
  const keys = Object.fromEntries(Object.entries(held).map(([setting, all]) => [setting, all.map(({ id }) => id)]));
  const fingerprints = Object.fromEntries(
    Object.entries(held)
      .map(([setting, all]) => [setting, fingerprintsById(all)] as const)
      .filter(([, byId]) => Object.keys(byId).length > 0),
  );
  const { node } = process.versions;
  return { service, version, commit, profile, exceptions, node, keys, fingerprints };
}

function fingerprintsById(keys: readonly HeldKey[]): Record<string, string> {
  return Object.fromEntries(
    keys.flatMap(({ id, fingerprint }) => (fingerprint === undefined ? [] : [[id, fingerprint] as const])),
  );
}

/** The same as metrics, so that dashboards see which versions run and alerts see a retired key that stays. */
export function registerAbout(metrics: Registry, about: About): void {
  const { version, commit, profile, node, keys } = about;
  const registers = [metrics];
  showPlainInternalPorts(metrics, about.exceptions ?? []);
  new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'commit', 'profile', 'node'],
    registers,
  }).set({ version, commit, profile, node }, 1);
  if (Object.keys(keys).length === 0) return;
  const held = new Gauge({
    name: 'gateway_vault_keys',
    help: 'Keys that the process holds, by setting (ring) and state: active (encrypts) or retired (only decrypts)',
    labelNames: ['ring', 'state'],
    registers,
  });
  for (const [ring, ids] of Object.entries(keys)) {
    held.set({ ring, state: 'active' }, Math.min(1, ids.length));
    held.set({ ring, state: 'retired' }, Math.max(0, ids.length - 1));
  }
}
