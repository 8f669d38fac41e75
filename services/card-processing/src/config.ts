import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import creditCardType from 'credit-card-type';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import type { ProductionRule } from '@gateway/service-kit';
import {
  callersAreKnown,
  commonSettings,
  ConfigurationError,
  kafkaProductionRules,
  mongoProductionRules,
  outboundProxySettings,
  proxyPasswordIsEncrypted,
  retentionSettings,
} from '@gateway/service-kit';
import { noDevelopmentKeys, vaultReaderSettings } from '@gateway/vault';
import type { HoldRule, Initiator } from './domain/holds';

const SECONDS_OF_A_WEEK = 604_800;

/** Up to 115 days. */
const HOLD = `(${Object.values(creditCardType.types).join('|')})(:(CIT|MIT))?=[1-9][0-9]{0,6}`;

export const settings = Type.Object({
  ...commonSettings,
  ...outboundProxySettings,
  ...vaultReaderSettings,
  ...simulatedMoneySettings,
  CARD_QUERY_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9201,
    description: 'Internal port of queries; 0 takes a free port',
  }),
  ACQUIRERS: Type.String({
    default: 'simulator',
    pattern: '^[a-z0-9-]+(,[a-z0-9-]+)*$',
    description: 'Connectors to open, comma-separated',
  }),
  AUTH_HOLD_SECONDS: Type.Integer({
    minimum: 1,
    default: SECONDS_OF_A_WEEK,
    description: 'Hold of an authorization if neither its terminal nor `AUTH_HOLDS` sets one',
  }),
  AUTH_HOLDS: Type.String({
    default: '',
    pattern: `^(${HOLD}(,${HOLD})*)?$`,
    description:
      'Holds by scheme and initiator, e.g. `visa:MIT=432000,visa:CIT=604800,mastercard=604800`; a hold of the terminal comes first',
  }),
  CHALLENGE_TIMEOUT_SECONDS: Type.Integer({
    minimum: 1,
    default: 900,
    description: 'How long a cardholder has for a challenge; the same in threeds',
  }),
  ACQUIRER_CALLS_AT_ONCE: Type.Integer({
    minimum: 2,
    maximum: 10_000,
    default: 512,
    description: 'Calls of merchants to one acquirer at once; one account has half of them at most',
  }),
  CONCURRENCY: Type.Integer({
    minimum: 1,
    maximum: 1024,
    default: 128,
    description: 'Commands that one replica decides at once, without the calls to acquirers',
  }),
  ...retentionSettings,
});

export type Config = Readonly<Static<typeof settings>>;

export const productionRules: readonly ProductionRule<Config>[] = [
  noDevelopmentKeys,
  noSimulatedMoney,
  callersAreKnown,
  ...kafkaProductionRules,
  ...mongoProductionRules,
  proxyPasswordIsEncrypted,
];

/**
 * The rules in AUTH_HOLDS.
 *
 * @throws ConfigurationError if two rules are for the same cards.
 */
export function holdsOf({ AUTH_HOLDS }: Pick<Config, 'AUTH_HOLDS'>): HoldRule[] {
  const rules = AUTH_HOLDS.split(',').filter(Boolean).map(holdRule);
  const subjects = new Set(rules.map(({ scheme, initiator }) => `${scheme}:${initiator}`));
  if (subjects.size < rules.length) throw new ConfigurationError('AUTH_HOLDS has two rules for the same cards.');
  return rules;
}

function holdRule(text: string): HoldRule {
  const [subject = '', seconds] = text.split('=');
  const [scheme = '', initiator] = subject.split(':');
  return {
    scheme,
    ...(initiator === undefined ? {} : { initiator: initiator as Initiator }),
    seconds: Number(seconds),
  };
}
