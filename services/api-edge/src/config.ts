import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings, connectionSettings } from '@gateway/service-kit';
import { vaultSettings } from '@gateway/vault';

/** Scheme, host, and a path without a slash at its end. */
const WEB_ADDRESS = '^https?://[^/?#@\\s]+(/[^/?#\\s]+)*$';

export const settings = Type.Object({
  ...commonSettings,
  ...vaultSettings,
  ...connectionSettings,
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  HOST: Type.String({ default: '127.0.0.1' }),
  /** PEM files; with both, the edge serves HTTPS itself. */
  TLS_CERT_FILE: Type.Optional(Type.String()),
  TLS_KEY_FILE: Type.Optional(Type.String()),
  /** How browsers reach this service and the challenge pages. */
  PUBLIC_BASE_URL: Type.String({ pattern: WEB_ADDRESS, default: 'http://127.0.0.1:8080' }),
  THREEDS_PUBLIC_URL: Type.String({ pattern: WEB_ADDRESS, default: 'http://127.0.0.1:8081' }),
  /** How long a cardholder may use a card-entry page. */
  CHECKOUT_LIFETIME_SECONDS: Type.Integer({ minimum: 1, maximum: 86_400, default: 1_800 }),
  REPLY_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 300_000, default: 30_000 }),
  /** From a request's first byte to the end of its body. */
  REQUEST_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 30_000, default: 10_000 }),
  /** card-processing's internal query API. */
  CARD_QUERY_URL: Type.String({ minLength: 1 }),
  /** The payout service's internal query API. */
  PAYOUT_QUERY_URL: Type.String({ minLength: 1 }),
  /** base64 of at least 32 bytes: the key of the bodies' hashes that tell a repeated request from another one. */
  JOURNAL_HMAC_KEY: Type.String({ pattern: '^[A-Za-z0-9+/]{43,}=*$' }),
  /** Requests of accounts handled at once; pages have as many of their own. */
  MAX_CONCURRENT_REQUESTS: Type.Integer({ minimum: 1, default: 2_000 }),
});

export type Config = Readonly<Static<typeof settings>>;
