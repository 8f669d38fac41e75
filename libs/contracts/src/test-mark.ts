import { Type } from '@sinclair/typebox';
import { TEST_CURRENCY } from './currencies';

/** On what is in the test currency. Its records are kept for a shorter time, and an account has a quota of them. */
export interface TestMark {
  isTest?: true;
}

/** Of a command. The journal and the owner of the payment must agree how long they keep it, so one of them decides. */
export const IsTest = Type.Optional(
  Type.Literal(true, { description: 'In the test currency: its records are kept for a shorter time' }),
);

export const MODES = ['sandbox', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** Of an event, since release 0.2.0. */
export const ModeField = Type.Optional(
  Type.Union(
    MODES.map((mode) => Type.Literal(mode)),
    { description: '`sandbox`: in the test currency, or of an account that has no other' },
  ),
);

export function modeOf({ isTest }: TestMark, currency: string | undefined): Mode {
  // What the release before began has no mark.
  return isTest === true || (currency !== undefined && isTestCurrency(currency)) ? 'sandbox' : 'live';
}

/** For spreading: what is not in the test currency has no mark. */
export function testMark(isTest: boolean | undefined): TestMark {
  return isTest === true ? { isTest } : {};
}

export function isTestCurrency(currency: string): boolean {
  return currency === TEST_CURRENCY;
}
