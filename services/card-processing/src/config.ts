import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import creditCardType from 'credit-card-type';
import { commonSettings } from '@gateway/service-kit';
import { vaultSettings } from '@gateway/vault';

const SECONDS_OF_A_WEEK = 604_800;

/** Up to 115 days. */
const HOLD = `(${Object.values(creditCardType.types).join('|')})(:(CIT|MIT))?=[1-9][0-9]{0,6}`;

export const settings = Type.Object({
  ...commonSettings,
  ...vaultSettings,
  /** Internal query API; 0 takes a free port. */
  CARD_QUERY_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 9201 }),
  /** Connectors to open, comma-separated. Each reads its own settings. */
  ACQUIRERS: Type.String({ default: 'simulator', pattern: '^[a-z0-9-]+(,[a-z0-9-]+)*$' }),
  /** How long an authorization is held where its terminal says nothing. */
  AUTH_HOLD_SECONDS: Type.Integer({ minimum: 1, default: SECONDS_OF_A_WEEK }),
  /** The same by scheme and initiator: `visa:MIT=432000,visa:CIT=604800,mastercard=604800`. A terminal's own comes first. */
  AUTH_HOLDS: Type.String({ default: '', pattern: `^(${HOLD}(,${HOLD})*)?$` }),
  /** The threeds service's own setting: how long a cardholder has for a challenge. */
  CHALLENGE_TIMEOUT_SECONDS: Type.Integer({ minimum: 1, default: 900 }),
  /** Merchants' operations under way at one acquirer at once; one account has half of them at most. */
  ACQUIRER_CALLS_AT_ONCE: Type.Integer({ minimum: 2, maximum: 10_000, default: 512 }),
  /** Commands that one replica decides on at once, each on another payment. Calls to acquirers are not among them. */
  CONCURRENCY: Type.Integer({ minimum: 1, maximum: 1024, default: 128 }),
});

export type Config = Readonly<Static<typeof settings>>;
