import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import type { ProductionRule } from '@gateway/service-kit';
import {
  callersAreKnown,
  commonSettings,
  kafkaProductionRules,
  mongoProductionRules,
  outboundProxySettings,
  proxyPasswordIsEncrypted,
  retentionSettings,
} from '@gateway/service-kit';

export const settings = Type.Object({
  ...commonSettings,
  ...outboundProxySettings,
  ...simulatedMoneySettings,
  PAYOUT_QUERY_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9203,
    description: 'Internal port of queries and `npm run payouts`; 0 takes a free port',
  }),
  PAYOUT_BANK: Type.String({
    default: 'none',
    pattern: '^[a-z0-9-]+$',
    description:
      'Connector of payouts in EUR: `iso20022` or `simulator`; `none`: they wait. XTS always goes to the simulator',
  }),
  BANK_CALLS_AT_ONCE: Type.Integer({
    minimum: 4,
    maximum: 10_000,
    default: 512,
    description: 'Submissions to one bank at once, half of them from the store; one account has half of each at most',
  }),
  CONCURRENCY: Type.Integer({
    minimum: 1,
    maximum: 1024,
    default: 128,
    description: 'Commands that one replica decides at once, without the calls to banks',
  }),
  ...retentionSettings,
});

export type Config = Readonly<Static<typeof settings>>;

export const productionRules: readonly ProductionRule<Config>[] = [
  noSimulatedMoney,
  callersAreKnown,
  ...kafkaProductionRules,
  ...mongoProductionRules,
  proxyPasswordIsEncrypted,
];
