import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { noSimulatedMoney, simulatedMoneySettings } from '@gateway/contracts';
import type { ProductionRule } from '@gateway/service-kit';
import {
  calledAddress,
  callersAreKnown,
  commonSettings,
  connectionSettings,
  hostsIn,
  isLoopback,
  listeningHosts,
  loadConfig,
  mongoProductionRules,
  publicPortHasTls,
  secretText,
  tlsSettings,
} from '@gateway/service-kit';

const { NODE_ENV, DEVELOPMENT_REACH, LOG_LEVEL, OPS_PORT, GATEWAY_VERSION, GATEWAY_COMMIT } = commonSettings;
const { MONGODB_URI, DATABASE_PREFIX, INTERNAL_HOST, OPS_HOST, CALLERS_FILE } = commonSettings;
const { INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE, INTERNAL_TLS_CA_FILE, ALLOW_PLAIN_INTERNAL_PORTS } =
  commonSettings;

/** Base64 of at least 32 bytes. */
const KEY = '^(?:[A-Za-z0-9+/]{4}){10,}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{6}==)$';

export const settings = Type.Object({
  NODE_ENV,
  DEVELOPMENT_REACH,
  LOG_LEVEL,
  OPS_PORT,
  GATEWAY_VERSION,
  GATEWAY_COMMIT,
  MONGODB_URI,
  DATABASE_PREFIX,
  INTERNAL_HOST,
  OPS_HOST,
  CALLERS_FILE,
  INTERNAL_TLS_CERT_FILE,
  INTERNAL_TLS_KEY_FILE,
  INTERNAL_TLS_CA_FILE,
  ALLOW_PLAIN_INTERNAL_PORTS,
  ...connectionSettings,
  ...tlsSettings,
  ...simulatedMoneySettings,
  SIMULATOR_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8090,
    description:
      "Port of the issuer's pages, and of all counterparts and the ledger unless `SIMULATOR_INTERNAL_PORT` has these; 0 takes a free port",
  }),
  SIMULATOR_INTERNAL_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description:
        'Internal port of all counterparts and the ledger, for callers that `CALLERS_FILE` knows; unset, they are on `SIMULATOR_PORT`, for everyone',
    }),
  ),
  SIMULATOR_HOST: listeningHosts({
    minLength: 1,
    default: '127.0.0.1',
    description: 'Addresses of `SIMULATOR_PORT`, comma-separated',
  }),
  SIMULATOR_PUBLIC_URL: Type.Optional(
    calledAddress({
      whose: 'public',
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

/** Whoever reaches the counterparts takes payments in their books, reads their ledger and makes them send results. */
function counterpartsAreInternal({ SIMULATOR_INTERNAL_PORT: port }: SimulatorConfig): string | undefined {
  return port === undefined
    ? "SIMULATOR_INTERNAL_PORT is not set, so that everyone who reaches the issuer's pages may use the banks and read the ledger."
    : undefined;
}

/** Card numbers and tokens come through it. */
function internalPortHasTls({ INTERNAL_HOST: host, TLS_CERT_FILE, TLS_KEY_FILE }: SimulatorConfig): string | undefined {
  if ((TLS_CERT_FILE !== undefined && TLS_KEY_FILE !== undefined) || hostsIn(host).every(isLoopback)) return undefined;
  return `INTERNAL_HOST is ${host}, where card numbers and tokens arrive without TLS: set TLS_CERT_FILE and TLS_KEY_FILE.`;
}

function pagesHaveTls({ SIMULATOR_HOST, ...config }: SimulatorConfig): string | undefined {
  return publicPortHasTls({ ...config, HOST: SIMULATOR_HOST })?.replace('HOST', 'SIMULATOR_HOST');
}

export const productionRules: readonly ProductionRule<SimulatorConfig>[] = [
  noSimulatedMoney,
  callersAreKnown,
  counterpartsAreInternal,
  internalPortHasTls,
  pagesHaveTls,
  ...mongoProductionRules,
];

export function readConfig(env: Record<string, string | undefined>): SimulatorConfig {
  return loadConfig(settings, env);
}
