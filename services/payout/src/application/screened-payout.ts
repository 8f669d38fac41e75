import { alpha2Of } from '@gateway/contracts';
import type { PayoutRequest } from '../domain/payout';
import type { ScreenedPayout } from './screening-ports';

/** A request as the rules of its account see it. */
export function screenedPayoutOf(request: PayoutRequest): ScreenedPayout {
  const { reference, merchantAccount, amountE4, currency, token, otherTokens = [], acceptedAt, instruction } = request;
  const { iban = '', address } = instruction?.receiver ?? {};
  const addressCountry = alpha2Of(address?.country ?? '');
  return {
    ...{ reference, merchantAccount, amountE4, currency, iban, tokens: [token, ...otherTokens], acceptedAt },
    ...(addressCountry === undefined ? {} : { addressCountry }),
  };
}
