import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { CommonConfig } from './config';

/** Ids of the keys that a process holds, by setting, the active one first. */
export type KeyIds = Readonly<Record<string, readonly string[]>>;

/** What a replica is, for operators: `/about` of its internal port. */
export interface About {
  service: string;
  version: string;
  /** Git commit. */
  commit: string;
  /** NODE_ENV: whether production's rules apply. */
  profile: string;
  /** Version of Node. */
  node: string;
  keys: KeyIds;
}

type AboutConfig = Pick<CommonConfig, 'GATEWAY_VERSION' | 'GATEWAY_COMMIT' | 'NODE_ENV'>;

/** @param keys of the settings that the process has read */
export function aboutOf(
  service: string,
  { GATEWAY_VERSION: version, GATEWAY_COMMIT: commit, NODE_ENV: profile }: AboutConfig,
  keys: KeyIds = {},
): About {
  return { service, version, commit, profile, node: process.versions.node, keys };
}

/** The same as metrics, so that dashboards see which versions run and alerts see a retired key that stays. */
export function registerAbout(metrics: Registry, { version, commit, profile, node, keys }: About): void {
  const registers = [metrics];
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
