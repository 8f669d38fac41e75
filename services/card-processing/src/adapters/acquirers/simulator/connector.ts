import { Type } from '@sinclair/typebox';
import type { AxiosResponse } from 'axios';
import type { SimulatedMoney } from '@gateway/contracts';
import { RESPONSE_CODES, formatAmountE4, isRegisteredCode, simulatorTakes } from '@gateway/contracts';
import {
  authorityFile,
  calledAddress,
  fieldText,
  fieldsIn,
  identitySettings,
  isFields,
  loadConfig,
  postJson,
} from '@gateway/service-kit';
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
    answerIn: ({ status, data }) =>
      status === 200 ? answerInBody(data) : { kind: 'unknown', code: RESPONSE_CODES.BANK_INTERNAL_ERROR },
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

function answerInBody(data: unknown): AcquirerAnswer {
  if (!isFields(data)) return { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED };
  switch (data['result']) {
    case 'approved':
      return approved(data);
    case 'declined':
      return declined(data);
    case 'unknown':
      return { kind: 'unknown', code: RESPONSE_CODES.BANK_STATUS_UNKNOWN };
    default:
      return { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED };
  }
}

type Settled = Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }>;

function approved(data: Record<string, unknown>): Settled {
  return { kind: 'approved', authcode: fieldText(data['authcode']) ?? null, bank: bankFacts(data) };
}

function declined(data: Record<string, unknown>): Settled {
  const code = Number(data['code']);
  return {
    kind: 'declined',
    code: isRegisteredCode(code) ? code : RESPONSE_CODES.DECLINED_BY_NETWORK,
    bank: bankFacts(data),
  };
}

function bankFacts(data: Record<string, unknown>): BankFacts {
  const bank = isFields(data['bank']) ? data['bank'] : {};
  const facts: Record<keyof BankFacts, string | undefined> = {
    transactionId: fieldText(data['transactionId']),
    id: fieldText(bank['id']),
    name: fieldText(bank['name']),
    descriptor: fieldText(bank['descriptor']),
    advice: fieldText(bank['advice']),
    reasonCode: fieldText(bank['reasonCode']),
    reasonDescription: fieldText(bank['reasonDescription']),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function inquiryIn(response: AxiosResponse<unknown>): Inquiry {
  const data = fieldsIn(response);
  switch (data['status']) {
    case 'approved':
      return approved(data);
    case 'declined':
      return declined(data);
    case 'not_found':
      return { kind: 'not-found' };
    case 'cancelled':
      return { kind: 'cancelled' };
    default:
      return { kind: 'unknown' };
  }
}

function cancellationIn(response: AxiosResponse<unknown>): Cancellation {
  const data = fieldsIn(response);
  switch (data['status']) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'already_processed':
      if (data['result'] === 'approved') return approved(data);
      return data['result'] === 'declined' ? declined(data) : { kind: 'unknown' };
    default:
      return { kind: 'unknown' };
  }
}
