import { Type } from '@sinclair/typebox';
import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { fieldText, fieldsIn, isFields, loadConfig } from '@gateway/service-kit';
import type { AcquirerTranslation } from '../../../services/card-processing/src/adapters/acquirers/acquirer';
import type { AcquirerAnswer, AcquirerRequest } from '../../../services/card-processing/src/application/ports';

const settings = Type.Object({
  SECOND_URL: Type.String({ minLength: 1, description: 'Connector `second`: address of the acquirer' }),
  SECOND_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description: 'Connector `second`: time-out of a call',
  }),
});

/** The acquirer's decline reasons in merchants' terms. */
const DECLINES: Readonly<Record<string, ResponseCode>> = {
  '51': RESPONSE_CODES.INSUFFICIENT_FUNDS,
  '54': RESPONSE_CODES.CARD_EXPIRED,
};

/** A connector as an engineer adds it: another protocol than the simulator's, and no cancellation by key. */
export function secondTranslation(env: Record<string, string | undefined>): AcquirerTranslation {
  const { SECOND_URL, SECOND_TIMEOUT_MS } = loadConfig(settings, env);
  return {
    baseUrl: SECOND_URL,
    timeoutMs: SECOND_TIMEOUT_MS,
    operate: (http, operation, request) => http.put(`/orders/${request.reference}/${operation}`, formOf(request)),
    answerIn: ({ status, data }) =>
      (status === 200 ? endOf(data) : undefined) ?? { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED },
    inquire: (http, reference) => http.get(`/orders/${reference}`),
    inquiryIn: (response) =>
      response.status === 404 ? { kind: 'not-found' } : (endOf(fieldsIn(response)) ?? { kind: 'unknown' }),
  };
}

function formOf({ amountE4, currency, card, originalTransactionId }: AcquirerRequest): URLSearchParams {
  const form = new URLSearchParams({ currency });
  if (amountE4 !== undefined) form.set('amount', String(amountE4));
  if (card !== undefined) form.set('pan', card.data.expose().pan);
  if (originalTransactionId !== undefined) form.set('original', originalTransactionId);
  return form;
}

/** Undefined unless the acquirer says yes or no. */
function endOf(data: unknown): Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }> | undefined {
  if (!isFields(data)) return undefined;
  const transactionId = fieldText(data['id']);
  const bank = transactionId === undefined ? {} : { transactionId };
  if (data['state'] === 'OK') return { kind: 'approved', authcode: fieldText(data['auth']) ?? null, bank };
  const code = DECLINES[fieldText(data['reason']) ?? ''] ?? RESPONSE_CODES.DECLINED_BY_NETWORK;
  return data['state'] === 'NO' ? { kind: 'declined', code, bank } : undefined;
}
