import { TEST_CURRENCY } from './currencies';

/** Test cards and real cards share a vault, and nothing else: neither tokens nor counts. */
export type CardRealm = 'test' | 'real';

/** XTS never leaves the sandbox, whoever uses it. */
export function realmOf(currency: string): CardRealm {
  return currency === TEST_CURRENCY ? 'test' : 'real';
}
