import type { TransactionType } from '@gateway/contracts';
import { realmOf } from '@gateway/contracts';

/** The part of a request that says where the cardholder's browser returns. */
export interface ReturningRequest {
  readonly transactionType: TransactionType;
  readonly currency?: string;
  /** A valid https address. */
  readonly redirectUrl?: string;
}

/**
 * Whether our pages may send a browser there: in the test currency only to hosts that the operator has registered for
 * the account, as for a `TermUrl`. Nobody pays for such a link, so it would be an open redirect with our name (ADR 0083).
 */
export function isRegisteredReturn(
  { currency, redirectUrl }: ReturningRequest,
  { returnHosts }: { readonly returnHosts: readonly string[] },
): boolean {
  if (currency === undefined || redirectUrl === undefined || realmOf(currency) === 'real') return true;
  return returnHosts.includes(new URL(redirectUrl).hostname);
}
