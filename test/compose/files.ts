import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Party, ServiceName } from '@gateway/contracts';
import { opsPorts } from '@gateway/contracts';
import { parse } from 'yaml';

const root = join(__dirname, '..', '..');

/** A container as a Compose file declares it, as far as tests look at it. */
export interface Container {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly networks: Readonly<Record<string, { aliases?: readonly string[] }>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly profiles: readonly string[];
  readonly [key: string]: unknown;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { internal?: boolean } | null>>;
}

/** The development system, and the closed one with the simulator beside it. Paths relative to the repository. */
export const SYSTEMS = {
  development: ['docker-compose.yml'],
  production: ['deploy/compose/production.yml', 'deploy/compose/sandbox.yml'],
} as const;

type Fields = Record<string, unknown>;

/** As Compose reads several files: later ones add to earlier ones. Variables stay as they are written. */
export function readCompose(files: readonly string[]): ComposeFile {
  const parsed = files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return parse(text, { merge: true, maxAliasCount: -1 }) as {
      services: Record<string, Fields | undefined>;
      networks: Fields;
    };
  });
  const names = parsed.flatMap(({ services }) => Object.keys(services));
  const services = names.map((name) => {
    const parts = parsed.map((file) => file.services[name] ?? {});
    return [name, completed(parts.reduce(merged, {}))] as const;
  });
  const networks = parsed.map((file) => file.networks).reduce((all, more) => ({ ...all, ...more }));
  return { services: Object.fromEntries(services), networks: networks as ComposeFile['networks'] };
}

function merged(one: Fields, other: Fields): Fields {
  const maps = ['environment', 'networks'].map((key) => [key, { ...asMap(one[key]), ...asMap(other[key]) }] as const);
  const listOf = (fields: Fields, key: string) => (fields[key] ?? []) as unknown[];
  const lists = ['ports', 'volumes'].map((key) => [key, [...listOf(one, key), ...listOf(other, key)]] as const);
  return { ...one, ...other, ...Object.fromEntries<unknown>([...maps, ...lists]) };
}

function completed(fields: Fields): Container {
  const { ports = [], volumes = [], profiles = [] } = fields;
  const environment = asMap(fields['environment']);
  return { ...fields, ports, volumes, profiles, environment, networks: asMap(fields['networks']) } as Container;
}

/** Networks may be a list of names. */
function asMap(value: unknown): Fields {
  if (Array.isArray(value)) return Object.fromEntries(value.map((name: string) => [name, {}]));
  return (value ?? {}) as Fields;
}

/** Whom a container is in `edges`. Replicas and members have a number at the end. */
export function partyOf(container: string): Party {
  const name = container.replace(/-\d$/, '');
  return name === 'provision' ? 'operations' : (name as Party);
}

export function isService(party: Party): party is ServiceName {
  return party in opsPorts;
}
