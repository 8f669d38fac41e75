import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { accountsSettings } from '@gateway/accounts';
import { commonSettings } from '@gateway/service-kit';

export const settings = Type.Object({
  ...commonSettings,
  ...accountsSettings,
  /** Internal queries and operators' commands; 0 takes a free port. */
  PAYOUT_QUERY_PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 9203 }),
  /** The connector that payouts in EUR go through. It reads its own settings. XTS never leaves the sandbox. */
  PAYOUT_BANK: Type.String({ pattern: '^[a-z0-9-]+$' }),
  /** Submissions to one bank at once, half of them from the store; one account has half of each at most. */
  BANK_CALLS_AT_ONCE: Type.Integer({ minimum: 4, maximum: 10_000, default: 512 }),
  /** Commands that one replica decides on at once. Calls to banks are not among them. */
  CONCURRENCY: Type.Integer({ minimum: 1, maximum: 1024, default: 128 }),
});

export type Config = Readonly<Static<typeof settings>>;
