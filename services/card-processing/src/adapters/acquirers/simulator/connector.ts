import { Type } from '@sinclair/typebox';
import type { AxiosResponse } from 'axios';
import type { SimulatedMoney } from '@gateway/contracts';
import {
  BANK_ADVICE_LENGTH_MAX,
  RESPONSE_CODES,
  finalCodeOf,
  formatAmountE4,
  simulatorTakes,
} from '@gateway/contracts';
import type { AnswerFields } from '@gateway/service-kit';
import { authorityFile, calledAddress, fieldsIn, identitySettings, loadConfig, postJson } from '@gateway/service-kit';
import type { AcquirerAnswer, AcquirerRequest, BankFacts, Cancellation, Inquiry } from '../../../application/ports';
import type { AuthenticationResult, CallKind } from '../../../domain/payment';
import type { AcquirerTranslation } from '../acquirer';

export const settings = Type.Object({
  SIMULATOR_URL: calledAddress({ description: 'Connector `simulator`: address of the simulator' }),
  SIMULATOR_CA_FILE: authorityFile('the simulator'),
  SIMULATOR_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 5_000,
    description: 'Connector `simulator`: time-out of a call',
  }),
  ...identitySettings,
});

const EMV_3DS_VERSION = '2.2.0';

const OPERATIONS = '/acquirer/v1/operations';

/** The simulator's acquirer API. */
export function simulatorTranslation(
  env: Record<string, string | undefined>,
  simulatedMoney: SimulatedMoney,
): AcquirerTranslation {
  const { SIMULATOR_URL, SIMULATOR_CA_FILE, SIMULATOR_TIMEOUT_MS, IDENTITY_TOKEN } = loadConfig(settings, env);
  return {
    baseUrl: SIMULATOR_URL,
    timeoutMs: SIMULATOR_TIMEOUT_MS,
    identityToken: IDENTITY_TOKEN,
    caFile: SIMULATOR_CA_FILE,
    takes: (currency) => simulatorTakes(currency, simulatedMoney),
    operate: (http, operation, request) =>
      postJson(http, OPERATIONS, bodyOf(operation, request), { 'idempotency-key': request.reference }),
    answerIn: (response) =>
      response.status === 200
        ? answerInFields(fieldsIn(response))
        : { kind: 'unknown', code: RESPONSE_CODES.BANK_INTERNAL_ERROR },
    inquire: (http, reference) => http.get(`${OPERATIONS}/${reference}`),
    inquiryIn,
    cancellation: {
      send: (http, reference) => http.post(`${OPERATIONS}/${reference}/cancel`),
      answerIn: cancellationIn,
    },
  };
}

function bodyOf(operation: CallKind, request: AcquirerRequest) {
  const card = request.card?.data.expose();
  return {
    operation,
    reference: request.reference,
    currency: request.currency,
    mid: request.midReference,
    ...(request.amountE4 === undefined ? {} : { amount: formatAmountE4(request.amountE4) }),
    ...(request.originalTransactionId === undefined ? {} : { originalTransactionId: request.originalTransactionId }),
    ...(request.customer === undefined ? {} : { customer: request.customer }),
    ...(request.authentication === undefined ? {} : { threeDS: threeDSOf(request.authentication) }),
    ...(card === undefined
      ? {}
      : {
          card: {
            number: card.pan,
            expMonth: card.expMonth,
            expYear: card.expYear,
            holder: card.holder,
            ...(request.card?.cvv === undefined ? {} : { cvv: request.card.cvv.expose() }),
          },
        }),
  };
}

function threeDSOf({ ids, eci, authenticationValue }: AuthenticationResult) {
  return {
    version: EMV_3DS_VERSION,
    eci: String(eci).padStart(2, '0'),
    authenticationValue,
    threeDSServerTransID: ids.threeDSServerTransId,
    ...(ids.dsTransId === undefined ? {} : { dsTransID: ids.dsTransId }),
  };
}

const RESULTS = ['approved', 'declined', 'unknown'] as const;

function answerInFields(fields: AnswerFields): AcquirerAnswer {
  switch (fields.word('result', RESULTS)) {
    case 'approved':
      return approved(fields);
    case 'declined':
      return declined(fields);
    case 'unknown':
      return { kind: 'unknown', code: RESPONSE_CODES.BANK_STATUS_UNKNOWN };
    case undefined:
      return { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED };
  }
}

type Settled = Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }>;

function approved(fields: AnswerFields): Settled {
  return { kind: 'approved', authcode: fields.text('authcode') ?? null, bank: bankFacts(fields) };
}

function declined(fields: AnswerFields): Settled {
  return {
    kind: 'declined',
    code: finalCodeOf(fields.text('code'), 'bank-decline', 'antifraud') ?? RESPONSE_CODES.DECLINED_BY_NETWORK,
    bank: bankFacts(fields),
  };
}

function bankFacts(fields: AnswerFields): BankFacts {
  const bank = fields.object('bank');
  const facts: Record<keyof BankFacts, string | undefined> = {
    transactionId: fields.text('transactionId'),
    id: bank.text('id'),
    name: bank.text('name'),
    descriptor: bank.text('descriptor'),
    advice: bank.text('advice', BANK_ADVICE_LENGTH_MAX),
    reasonCode: bank.text('reasonCode'),
    reasonDescription: bank.text('reasonDescription'),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

const INQUIRED = ['approved', 'declined', 'not_found', 'cancelled'] as const;

function inquiryIn(response: AxiosResponse<unknown>): Inquiry {
  const fields = fieldsIn(response);
  switch (fields.word('status', INQUIRED)) {
    case 'approved':
      return approved(fields);
    case 'declined':
      return declined(fields);
    case 'not_found':
      return { kind: 'not-found' };
    case 'cancelled':
      return { kind: 'cancelled' };
    case undefined:
      return { kind: 'unknown' };
  }
}

function cancellationIn(response: AxiosResponse<unknown>): Cancellation {
  const fields = fieldsIn(response);
  switch (fields.word('status', ['cancelled', 'already_processed'])) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'already_processed': {
      const result = fields.word('result', ['approved', 'declined']);
      if (result === undefined) return { kind: 'unknown' };
      return result === 'approved' ? approved(fields) : declined(fields);
    }
    case undefined:
      return { kind: 'unknown' };
  }
}
