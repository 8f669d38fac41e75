import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { ProductionRule } from '@gateway/service-kit';
import {
  authorityFile,
  calledAddress,
  commonSettings,
  connectionSettings,
  keyListText,
  kafkaProductionRules,
  listeningHosts,
  mongoProductionRules,
  outboundProxySettings,
  proxyPasswordIsEncrypted,
  proxiesAreFew,
  publicPortHasTls,
  retentionSettings,
  secretText,
  tlsSettings,
} from '@gateway/service-kit';
import { cardReaderSettings, noDevelopmentKeys } from '@gateway/vault';

const keys = (use: string) =>
  keyListText({
    entry:
      '(?:[A-Za-z0-9+/]{4}){10}(?:[A-Za-z0-9+/]{3}=|(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)',
    use,
  });

const ORIGIN = '^https?://[A-Za-z0-9._:\\[\\]-]+$';
/** Merchants get URLs of at most 255 characters that begin with it. */
const PUBLIC_URL_LENGTH_MAX = 200;
/** The edge waits 30 s for a first answer, so a later answer is useless. */
const DIRECTORY_TIMEOUT_MAX_MS = 15_000;
const A_DAY_IN_SECONDS = 86_400;

export const settings = Type.Object({
  ...commonSettings,
  ...outboundProxySettings,
  ...cardReaderSettings,
  ...connectionSettings,
  ...tlsSettings,
  THREEDS_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 8081,
    description: 'Port of the challenge and result pages and of result messages; 0 takes a free port',
  }),
  HOST: listeningHosts({ minLength: 1, default: '127.0.0.1', description: 'Addresses of that port, comma-separated' }),
  THREEDS_PUBLIC_URL: calledAddress({
    whose: 'public',
    default: 'http://127.0.0.1:8081',
    pattern: ORIGIN,
    maxLength: PUBLIC_URL_LENGTH_MAX,
    description: 'Origin at which browsers reach that port',
  }),
  THREEDS_RESULTS_URL: Type.Optional(
    calledAddress({
      whose: 'public',
      pattern: ORIGIN,
      description: 'Origin at which the directory server reaches that port; unset, `THREEDS_PUBLIC_URL`',
    }),
  ),
  DIRECTORY_SERVER_URL: calledAddress({ description: 'Directory server' }),
  DIRECTORY_SERVER_CA_FILE: authorityFile('the directory server'),
  DIRECTORY_SERVER_TOKEN: Type.Optional(
    secretText({
      minLength: 32,
      description:
        'Bearer token for the directory server, if it asks for one. The simulator does: its hash is in `CALLERS_FILE`',
    }),
  ),
  DIRECTORY_CALLS_AT_ONCE: Type.Integer({
    minimum: 2,
    maximum: 10_000,
    default: 256,
    description: 'Calls to the directory server at once; one account has half of them at most',
  }),
  DIRECTORY_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: DIRECTORY_TIMEOUT_MAX_MS,
    default: 5_000,
    description: 'Time-out of a call to the directory server',
  }),
  DS_MESSAGE_KEY: keys('checks the signatures of the directory server on its result messages; all of them do'),
  THREEDS_PROOF_KEY: keys('derives `pareq` and `pares`; the others, those of pages that began under them'),
  CHALLENGE_TIMEOUT_SECONDS: Type.Integer({
    minimum: 1,
    maximum: A_DAY_IN_SECONDS,
    default: 900,
    description: 'How long a cardholder has for a challenge; the same in card-processing',
  }),
  ...retentionSettings,
});

export type Config = Readonly<Static<typeof settings>>;

export const productionRules: readonly ProductionRule<Config>[] = [
  publicPortHasTls,
  proxiesAreFew,
  noDevelopmentKeys,
  ...kafkaProductionRules,
  ...mongoProductionRules,
  proxyPasswordIsEncrypted,
];
