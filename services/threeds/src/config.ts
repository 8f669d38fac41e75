import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings, connectionSettings } from '@gateway/service-kit';
import { vaultSettings } from '@gateway/vault';

/** Base64 of 32 bytes or more. */
const Key = Type.String({
  pattern:
    '^(?:[A-Za-z0-9+/]{4}){10}(?:[A-Za-z0-9+/]{3}=|(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$',
});

/** Merchants are told addresses of at most 255 characters below it. */
const PUBLIC_URL_LENGTH_MAX = 200;
/** The edge waits 30 s for a first answer; what comes later helps nobody. */
const DIRECTORY_TIMEOUT_MAX_MS = 15_000;
const A_DAY_IN_SECONDS = 86_400;

export const settings = Type.Object({
  ...commonSettings,
  ...vaultSettings,
  ...connectionSettings,
  /** Pages and the address for results; 0 takes a free port. */
  THREEDS_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8081 }),
  HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  /** How browsers and the directory server reach the pages: an origin, without a path. */
  THREEDS_PUBLIC_URL: Type.String({
    default: 'http://127.0.0.1:8081',
    pattern: '^https?://[A-Za-z0-9._:\\[\\]-]+$',
    maxLength: PUBLIC_URL_LENGTH_MAX,
  }),
  DIRECTORY_SERVER_URL: Type.String({ minLength: 1 }),
  /** Calls to the directory server at once; one account has half of them at most. */
  DIRECTORY_CALLS_AT_ONCE: Type.Integer({ minimum: 2, maximum: 10_000, default: 256 }),
  DIRECTORY_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: DIRECTORY_TIMEOUT_MAX_MS, default: 5_000 }),
  /** Signs result messages; the directory server has the same. */
  DS_MESSAGE_KEY: Key,
  /** Derives `pareq` and `pares`. With another one, those that are under way are worth nothing. */
  THREEDS_PROOF_KEY: Key,
  CHALLENGE_TIMEOUT_SECONDS: Type.Integer({ minimum: 1, maximum: A_DAY_IN_SECONDS, default: 900 }),
});

export type Config = Readonly<Static<typeof settings>>;
