import type { StringOptions, TSchema, TString } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { hostsIn, isLoopback } from './address-range';
import { developmentAddressRules } from './called-address';
import { ConfigurationError } from './configuration-error';
import type { ProductionRule } from './production';
import type { Environment } from './secret-settings';
import { valueOf } from './secret-settings';

/** Marks a setting with addresses at which this process listens. */
export const LISTENS_KEYWORD = 'listens';

/** Addresses at which a process listens, comma-separated. */
export function listeningHosts(options: StringOptions & { description: string }): TString {
  return Type.String({ ...options, [LISTENS_KEYWORD]: true });
}

/** The profile decides which rules apply, so a service guesses none. @throws ConfigurationError if none is named */
export function requireProfile(env: Environment): void {
  if (valueOf(env, 'NODE_ENV') !== undefined) return;
  throw new ConfigurationError(
    'NODE_ENV is not set: production where real money moves, or development, which stays on this machine.',
  );
}

/**
 * Without production's rules a service stays on this machine: it listens and calls there, or calls by HTTPS. With
 * `DEVELOPMENT_REACH=network` the operator says that its network is as closed as this machine, as Compose's are.
 *
 * @throws ConfigurationError with a sentence for each setting that leads elsewhere
 */
export function requireThisMachine(settings: Readonly<Record<string, TSchema>>, config: object): void {
  const { NODE_ENV, DEVELOPMENT_REACH } = config as Readonly<Record<string, unknown>>;
  if (NODE_ENV === 'production' || DEVELOPMENT_REACH === 'network') return;
  const rules = [...listeningRules(settings), ...developmentAddressRules(settings)];
  const sentences = rules.flatMap((rule) => rule(config) ?? []);
  if (sentences.length === 0) return;
  throw new ConfigurationError(
    `NODE_ENV is ${String(NODE_ENV)}, which stays on this machine unless DEVELOPMENT_REACH is network. ${sentences.join(' ')}`,
  );
}

function listeningRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  const names = Object.keys(settings).filter((name) => settings[name]?.[LISTENS_KEYWORD] === true);
  return names.map((name) => (config) => {
    const hosts = (config as Readonly<Record<string, string | undefined>>)[name];
    return hosts === undefined || hostsIn(hosts).every(isLoopback)
      ? undefined
      : `${name} is ${hosts}, where other machines connect.`;
  });
}
