import type { Account } from './account';

/** EMV 3-D Secure's bound of a merchant's name. */
const LENGTH_MAX = 40;
/**
 * One line of words with single spaces between them. Nothing invisible: control characters, fillers, and formatting ones,
 * which include all that change the direction of a text and so could make a name read as another.
 */
const WORDS = /^[^\p{C}\p{Z}\p{DI}\u2800]+(?: [^\p{C}\p{Z}\p{DI}\u2800]+)*$/u;

export const DISPLAY_NAME_RULE = `1 to ${LENGTH_MAX} visible characters, with single spaces between words`;

/** `name` in NFC. */
export function isDisplayName(name: string): boolean {
  return Array.from(name).length <= LENGTH_MAX && WORDS.test(name);
}

/** What cardholders know the merchant by. */
export function displayNameOf(account: Pick<Account, 'merchantAccount' | 'displayName'>): string {
  return account.displayName ?? account.merchantAccount;
}
