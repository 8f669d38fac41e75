import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { ProductionRule } from '@gateway/service-kit';
import { commonSettings, kafkaProductionRules, mongoProductionRules } from '@gateway/service-kit';

export const settings = Type.Object({
  ...commonSettings,
  EXPIRY_RATE_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 1_000,
    description: 'Expiries that one replica requests per second at most; limits how fast it catches up',
  }),
});

export type Config = Readonly<Static<typeof settings>>;

export const productionRules: readonly ProductionRule<Config>[] = [...kafkaProductionRules, ...mongoProductionRules];
