import { Type } from '@sinclair/typebox';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { BrokenCircuitError, circuitBreaker, handleAll, SamplingBreaker } from 'cockatiel';
import { formatAmountE4, isRegisteredCode } from '@gateway/contracts';
import {
  answerFields,
  callFaultOf,
  closeHttpClient,
  createHttpClient,
  fieldText,
  Histogram,
  isFields,
  loadConfig,
} from '@gateway/service-kit';
import type { AcquirerAnswer, BankFacts } from '../../../application/ports';
import type { AcquirerConnector, AcquirerRequest, Cancellation, Inquiry } from '../../../application/ports';
import type { AuthenticationResult } from '../../../domain/payment';
import type { ConnectorContext } from '../connector-context';

const settings = Type.Object({
  SIMULATOR_URL: Type.String({ minLength: 1 }),
  SIMULATOR_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 60_000, default: 5_000 }),
});

/** Registry codes for what a connection can do instead of answering. */
const TIMED_OUT = 3109;
const MALFORMED = 3117;
const BROKEN_CONNECTION = 3118;
const UNKNOWN_STATUS = 3124;
const ACQUIRER_FAULT = 3125;
/** A decline whose code the registry does not know. */
const GENERAL_DECLINE = 3100;

const EMV_3DS_VERSION = '2.2.0';

/** Opens when most calls of the last ten seconds found no answer at all, and lets one through again after five. */
const REOPEN_AFTER_MS = 5_000;
const SAMPLING = { threshold: 0.8, duration: 10_000, minimumRps: 10 };

type Operation = 'authorize' | 'sale' | 'capture' | 'void' | 'refund';

/** Speaks the simulator's acquirer API over kept-alive HTTP. */
export function createSimulatorConnector({ env, metrics }: ConnectorContext): AcquirerConnector {
  const { SIMULATOR_URL, SIMULATOR_TIMEOUT_MS } = loadConfig(settings, env);
  const http = createHttpClient({ baseUrl: SIMULATOR_URL, timeoutMs: SIMULATOR_TIMEOUT_MS });
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: REOPEN_AFTER_MS,
    breaker: new SamplingBreaker(SAMPLING),
  });
  const duration = new Histogram({
    name: 'gateway_acquirer_call_seconds',
    help: 'Calls to an acquirer, by operation and kind of answer',
    labelNames: ['acquirer', 'operation', 'answer'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });

  async function perform(operation: Operation, request: AcquirerRequest): Promise<AcquirerAnswer> {
    const observe = duration.startTimer({ acquirer: 'simulator', operation });
    const answer = await answerOf(() => policy.execute(() => post(http, operation, request)));
    observe({ answer: answer.kind });
    return answer;
  }

  return {
    name: 'simulator',
    timeoutMs: SIMULATOR_TIMEOUT_MS,
    authorize: (request) => perform('authorize', request),
    sale: (request) => perform('sale', request),
    capture: (request) => perform('capture', request),
    void: (request) => perform('void', request),
    refund: (request) => perform('refund', request),
    inquire: (reference) => inquire(http, reference),
    cancel: (reference) => cancel(http, reference),
    close: () => closeHttpClient(http),
  };
}

function post(http: AxiosInstance, operation: Operation, request: AcquirerRequest): Promise<AxiosResponse> {
  return http.post('/acquirer/v1/operations', bodyOf(operation, request), {
    headers: { 'idempotency-key': request.reference },
  });
}

function bodyOf(operation: Operation, request: AcquirerRequest) {
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

async function answerOf(call: () => Promise<AxiosResponse>): Promise<AcquirerAnswer> {
  try {
    const response = await call();
    return response.status === 200 ? answerInBody(response.data) : { kind: 'unknown', code: ACQUIRER_FAULT };
  } catch (error) {
    return answerOfFault(error);
  }
}

function answerOfFault(error: unknown): AcquirerAnswer {
  if (error instanceof BrokenCircuitError) return { kind: 'not-executed', code: BROKEN_CONNECTION };
  switch (callFaultOf(error)) {
    case 'never-sent':
      return { kind: 'not-executed', code: BROKEN_CONNECTION };
    case 'timed-out':
      return { kind: 'unknown', code: TIMED_OUT };
    case 'broken':
      return { kind: 'unknown', code: BROKEN_CONNECTION };
  }
}

function answerInBody(data: unknown): AcquirerAnswer {
  if (!isFields(data)) return { kind: 'unknown', code: MALFORMED };
  switch (data['result']) {
    case 'approved':
      return approved(data);
    case 'declined':
      return declined(data);
    case 'unknown':
      return { kind: 'unknown', code: UNKNOWN_STATUS };
    default:
      return { kind: 'unknown', code: MALFORMED };
  }
}

type Settled = Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }>;

function approved(data: Record<string, unknown>): Settled {
  return { kind: 'approved', authcode: fieldText(data['authcode']) ?? null, bank: bankFacts(data) };
}

function declined(data: Record<string, unknown>): Settled {
  const code = Number(data['code']);
  return { kind: 'declined', code: isRegisteredCode(code) ? code : GENERAL_DECLINE, bank: bankFacts(data) };
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

async function inquire(http: AxiosInstance, reference: string): Promise<Inquiry> {
  const data = await answerFields(() => http.get(`/acquirer/v1/operations/${reference}`));
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

async function cancel(http: AxiosInstance, reference: string): Promise<Cancellation> {
  const data = await answerFields(() => http.post(`/acquirer/v1/operations/${reference}/cancel`));
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
