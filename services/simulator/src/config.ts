import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import type { ProductionRule } from '@gateway/service-kit';
import {
  commonSettings,
  isHttps,
  loadConfig,
  mongoProductionRules,
  secretText,
  tlsSettings,
} from '@gateway/service-kit';

const { NODE_ENV, LOG_LEVEL, OPS_PORT, GATEWAY_VERSION, GATEWAY_COMMIT } = commonSettings;
const { MONGODB_URI, DATABASE_PREFIX, INTERNAL_HOST, OPS_HOST, CALLERS_FILE } = commonSettings;

/** Base64 of at least 32 bytes. */
const KEY = '^(?:[A-Za-z0-9+/]{4}){10,}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{6}==)$';

export const settings = Type.Object({
  NODE_ENV,
  LOG_LEVEL,
  OPS_PORT,
  GATEWAY_VERSION,
  GATEWAY_COMMIT,
  MONGODB_URI,
  DATABASE_PREFIX,
  INTERNAL_HOST,
  OPS_HOST,
  CALLERS_FILE,
  ...tlsSettings,
  ...simulatedMoneySettings,
  SIMULATOR_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8090,
    description: 'Port of all counterparts and the ledger; 0 takes a free port',
  }),
  SIMULATOR_HOST: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description:
      'Addresses of that port, comma-separated. The simulator checks no credentials, so keep it on a private network',
  }),
  SIMULATOR_PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#]+[^?#]*$',
      description: "Base URL at which browsers reach the issuer's page; unset, `http://127.0.0.1` and its port",
    }),
  ),
  DS_MESSAGE_KEY: secretText({
    pattern: KEY,
    description: 'Base64 of at least 32 bytes: signs the result messages of the directory server',
  }),
  SIMULATOR_LATENCY_MS: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 0,
    description: 'Added to each answer',
  }),
  SIMULATOR_SILENCE_MS: Type.Integer({
    minimum: 1,
    maximum: 600_000,
    default: 60_000,
    description: 'How long a connection that gets no answer stays open',
  }),
});

export type SimulatorConfig = Readonly<Static<typeof settings>>;

export const productionRules: readonly ProductionRule<SimulatorConfig>[] = [
  isHttps('SIMULATOR_PUBLIC_URL'),
  noSimulatedMoney,
  ...mongoProductionRules,
];

export function readConfig(env: Record<string, string | undefined>): SimulatorConfig {
  return loadConfig(settings, env);
}
