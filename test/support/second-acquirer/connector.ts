import { Type } from '@sinclair/typebox';
import type { AxiosResponse } from 'axios';
import type { FinalCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import { fieldsIn, loadConfig } from '@gateway/service-kit';
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
const DECLINES: ReadonlyMap<string | undefined, FinalCode<'bank-decline'>> = new Map([
  ['51', RESPONSE_CODES.INSUFFICIENT_FUNDS],
  ['54', RESPONSE_CODES.CARD_EXPIRED],
]);

/** A connector as an engineer adds it: another protocol than the simulator's, and no cancellation by key. */
export function secondTranslation(env: Record<string, string | undefined>): AcquirerTranslation {
  const { SECOND_URL, SECOND_TIMEOUT_MS } = loadConfig(settings, env);
  return {
    baseUrl: SECOND_URL,
    timeoutMs: SECOND_TIMEOUT_MS,
    operate: (http, operation, request) => http.put(`/orders/${request.reference}/${operation}`, formOf(request)),
    answerIn: (response) => endIn(response) ?? { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED },
    inquire: (http, reference) => http.get(`/orders/${reference}`),
    inquiryIn: (response) =>
      response.status === 404 ? { kind: 'not-found' } : (endIn(response) ?? { kind: 'unknown' }),
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
function endIn(
  response: AxiosResponse<unknown>,
): Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }> | undefined {
  const fields = fieldsIn(response);
  const transactionId = fields.text('id');
  const bank = transactionId === undefined ? {} : { transactionId };
  switch (fields.word('state', ['OK', 'NO'])) {
    case 'OK':
      return { kind: 'approved', authcode: fields.text('auth') ?? null, bank };
    case 'NO':
      return {
        kind: 'declined',
        code: DECLINES.get(fields.text('reason')) ?? RESPONSE_CODES.DECLINED_BY_NETWORK,
        bank,
      };
    case undefined:
      return undefined;
  }
}
