import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { loginSettings } from '@gateway/accounts';
import type { ProductionRule } from '@gateway/service-kit';
import {
  authorityFile,
  calledAddress,
  commonSettings,
  connectionSettings,
  hasIdentity,
  identitySettings,
  kafkaProductionRules,
  keyListText,
  listeningHosts,
  mongoProductionRules,
  proxiesAreFew,
  publicPortHasTls,
  retentionSettings,
  tlsSettings,
} from '@gateway/service-kit';
import { noDevelopmentKeys, vaultWriterSettings } from '@gateway/vault';

/** Measured for a SALE: 163 GiB in a day of 68 a second, in databases and topics together; rounded up. */
const TEST_RECORD_KIB = 32;
const KIB_IN_GIB = 1_024 * 1_024;

/** Scheme, host, and a path without a slash at its end. */
const WEB_ADDRESS = '^https?://[^/?#@\\s]+(/[^/?#\\s]+)*$';

export const settings = Type.Object({
  ...commonSettings,
  ...loginSettings,
  ...vaultWriterSettings,
  ...connectionSettings,
  ...identitySettings,
  ...tlsSettings,
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    description: 'Port of the merchant API and the card-entry page; 0 takes a free port',
  }),
  HOST: listeningHosts({ default: '127.0.0.1', description: 'Addresses of that port, comma-separated' }),
  PUBLIC_BASE_URL: calledAddress({
    whose: 'public',
    pattern: WEB_ADDRESS,
    default: 'http://127.0.0.1:8080',
    description: 'Base URL at which browsers reach the card-entry page',
  }),
  THREEDS_PUBLIC_URL: calledAddress({
    whose: 'public',
    pattern: WEB_ADDRESS,
    default: 'http://127.0.0.1:8081',
    description: 'Base URL at which browsers reach the 3-D Secure pages',
  }),
  REFERENCE_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'Port of the API reference for developers, on the same addresses; 0 takes a free port, unset: none',
    }),
  ),
  CHECKOUT_LIFETIME_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 86_400,
    default: 1_800,
    description: 'How long a card-entry page accepts attempts',
  }),
  REPLY_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 300_000,
    default: 30_000,
    description: 'How long a request waits for its outcome; also the deadline of its command',
  }),
  REQUEST_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    default: 10_000,
    description: 'From the first byte of a request to the end of its body',
  }),
  CARD_QUERY_URL: calledAddress({ whose: 'own', description: 'Query port of card-processing' }),
  PAYOUT_QUERY_URL: calledAddress({ whose: 'own', description: 'Query port of payout' }),
  CALLBACK_ADMIN_URL: calledAddress({ whose: 'own', description: 'Internal port of callback-dispatcher' }),
  SIMULATOR_URL: Type.Optional(
    calledAddress({ description: 'Address of the simulator; unset, there is no `/api/sandbox/ledger`' }),
  ),
  SIMULATOR_CA_FILE: authorityFile('the simulator'),
  JOURNAL_HMAC_KEY: keyListText({
    entry: '[A-Za-z0-9+/]{43,}=*',
    use: 'hashes what recognizes a repeated request with an Idempotency-Key. Without its key, a repetition counts as another request',
  }),
  MAX_CONCURRENT_REQUESTS: Type.Integer({
    minimum: 1,
    default: 2_000,
    description: 'API requests handled at once; page requests have as many slots of their own',
  }),
  ...retentionSettings,
  SANDBOX_DAILY_RECORDS: Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    default: 100_000,
    description: 'Operations, pages and payouts in XTS that an account may have in a UTC day; further ones get 1007',
  }),
  SANDBOX_DISK_GIB: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
    description: `Disk for what is kept of XTS, of all accounts and in all stores, at ${TEST_RECORD_KIB} KiB for each operation, page and payout. Beyond it XTS alone is refused, with 1007`,
  }),
});

export type Config = Readonly<Static<typeof settings>>;

/** Records in the test currency that fit on the disk of the sandbox. */
export function testRecordsMax({ SANDBOX_DISK_GIB }: Pick<Config, 'SANDBOX_DISK_GIB'>): number {
  return (SANDBOX_DISK_GIB * KIB_IN_GIB) / TEST_RECORD_KIB;
}

/** Developers read it in the sandbox. Where real money moves, every open port is one too many. */
const noReferencePage: ProductionRule<Config> = ({ REFERENCE_PORT }) =>
  REFERENCE_PORT === undefined ? undefined : `REFERENCE_PORT is ${REFERENCE_PORT}, which opens the API reference.`;

export const productionRules: readonly ProductionRule<Config>[] = [
  noReferencePage,
  publicPortHasTls,
  proxiesAreFew,
  noDevelopmentKeys,
  hasIdentity,
  ...kafkaProductionRules,
  ...mongoProductionRules,
];
