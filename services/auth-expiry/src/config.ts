import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings } from '@gateway/service-kit';

export const settings = Type.Object({
  ...commonSettings,
  /** Expiries that one replica asks for in a second at most: how fast missed time is caught up. */
  EXPIRY_RATE_PER_SECOND: Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 }),
});

export type Config = Readonly<Static<typeof settings>>;
