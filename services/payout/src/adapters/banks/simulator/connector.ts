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
  repeat,
} from '@gateway/service-kit';
import type {
  BankFacts,
  BankNews,
  BankOutcome,
  Cancellation,
  Inquiry,
  NewsVerdict,
  PaymentInstruction,
  SubmitAnswer,
} from '../../../application/bank-ports';
import type { BankContext, OpenBank } from '../bank-context';

const settings = Type.Object({
  SIMULATOR_URL: Type.String({ minLength: 1 }),
  SIMULATOR_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 60_000, default: 5_000 }),
});

/** Registry codes for what a connection can do instead of answering. */
const TIMED_OUT = 3109;
const MALFORMED = 3117;
const BROKEN_CONNECTION = 3118;
const UNKNOWN_STATUS = 3124;
const BANK_FAULT = 3125;

/** What an end with a code that the registry does not know is called. */
const GENERAL_CODE = { declined: 3100, frauded: 3200, failed: 3300 } as const;

/** Opens when most calls of the last ten seconds found no answer at all, and lets one through again after five. */
const REOPEN_AFTER_MS = 5_000;
const SAMPLING = { threshold: 0.8, duration: 10_000, minimumRps: 10 };

const ASK_FOR_RETURNS_EVERY_MS = 1_000;
const RETURNS_AT_ONCE = 100;

const PAYOUTS = '/bank/v1/payouts';
const RETURNS = '/bank/v1/returns';

/** Speaks the sandbox bank's API over kept-alive HTTP. Every replica asks for returns; told twice, they are the same. */
export function createSimulatorConnector({ env, metrics, logger }: BankContext): OpenBank {
  const { SIMULATOR_URL, SIMULATOR_TIMEOUT_MS } = loadConfig(settings, env);
  const http = createHttpClient({ baseUrl: SIMULATOR_URL, timeoutMs: SIMULATOR_TIMEOUT_MS });
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: REOPEN_AFTER_MS,
    breaker: new SamplingBreaker(SAMPLING),
  });
  const duration = new Histogram({
    name: 'gateway_bank_call_seconds',
    help: 'Submissions of payouts to a bank, by kind of answer',
    labelNames: ['bank', 'answer'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });
  let stopAsking = (): Promise<void> => Promise.resolve();

  return {
    name: 'simulator',
    callTimeoutMs: SIMULATOR_TIMEOUT_MS,
    async submit(instruction) {
      const observe = duration.startTimer({ bank: 'simulator' });
      const answer = await answerOf(() => policy.execute(() => post(http, instruction)));
      observe({ answer: answer.kind });
      return answer;
    },
    inquire: (reference) => inquire(http, reference),
    cancel: (reference) => cancel(http, reference),
    start(take) {
      const asking = repeat({
        name: 'asking the bank for returns',
        everyMs: ASK_FOR_RETURNS_EVERY_MS,
        work: () => takeReturns(http, take),
        logger,
      });
      asking.start();
      stopAsking = () => asking.stop();
      return Promise.resolve();
    },
    async stop() {
      await stopAsking();
      closeHttpClient(http);
    },
  };
}

function post(http: AxiosInstance, instruction: PaymentInstruction): Promise<AxiosResponse> {
  const { reference, amountE4, currency, instant, description, receiver } = instruction;
  const creditor = {
    name: receiver.name,
    iban: receiver.iban,
    ...(receiver.bic === undefined ? {} : { bic: receiver.bic }),
  };
  return http.post(
    PAYOUTS,
    { reference, amount: formatAmountE4(amountE4), currency, instant, description, creditor },
    { headers: { 'idempotency-key': reference } },
  );
}

async function answerOf(call: () => Promise<AxiosResponse<unknown>>): Promise<SubmitAnswer> {
  try {
    const { status, data } = await call();
    if (status !== 200) return { kind: 'unknown', code: BANK_FAULT };
    if (!isFields(data)) return { kind: 'unknown', code: MALFORMED };
    if (data['result'] === 'unknown') return { kind: 'unknown', code: UNKNOWN_STATUS };
    return outcomeOf(data['result'], data) ?? { kind: 'unknown', code: MALFORMED };
  } catch (error) {
    return answerOfFault(error);
  }
}

function answerOfFault(error: unknown): SubmitAnswer {
  if (error instanceof BrokenCircuitError) return { kind: 'not-sent' };
  switch (callFaultOf(error)) {
    case 'never-sent':
      return { kind: 'not-sent' };
    case 'timed-out':
      return { kind: 'unknown', code: TIMED_OUT };
    case 'broken':
      return { kind: 'unknown', code: BROKEN_CONNECTION };
  }
}

/** Undefined where `kind` is no outcome. */
function outcomeOf(kind: unknown, data: Record<string, unknown>): BankOutcome | undefined {
  const bank = bankFacts(data);
  switch (kind) {
    case 'settled':
      return { kind, bank };
    case 'declined':
    case 'frauded':
    case 'failed': {
      const code = Number(data['code']);
      return { kind, code: isRegisteredCode(code) ? code : GENERAL_CODE[kind], bank };
    }
    default:
      return undefined;
  }
}

function bankFacts(data: Record<string, unknown>): BankFacts {
  const bank = isFields(data['bank']) ? data['bank'] : {};
  const facts: Record<keyof BankFacts, string | undefined> = {
    transactionId: fieldText(data['transactionId']),
    id: fieldText(bank['id']),
    name: fieldText(bank['name']),
    advice: fieldText(bank['advice']),
    reasonCode: fieldText(bank['reasonCode']),
    reasonDescription: fieldText(bank['reasonDescription']),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

async function inquire(http: AxiosInstance, reference: string): Promise<Inquiry> {
  const data = await answerFields(() => http.get(`${PAYOUTS}/${reference}`));
  const { status } = data;
  if (status === 'not-found' || status === 'cancelled') return { kind: status };
  return outcomeOf(status, data) ?? { kind: 'unknown' };
}

async function cancel(http: AxiosInstance, reference: string): Promise<Cancellation> {
  const data = await answerFields(() => http.post(`${PAYOUTS}/${reference}/cancel`));
  const { status } = data;
  return status === 'cancelled' ? { kind: status } : (outcomeOf(status, data) ?? { kind: 'unknown' });
}

/** The bank tells of a return until it is acknowledged, which it is as soon as it has been taken, whatever came of it. */
async function takeReturns(http: AxiosInstance, take: (news: BankNews) => Promise<NewsVerdict>): Promise<void> {
  const { returns } = await answerFields(() => http.get(RETURNS, { params: { limit: RETURNS_AT_ONCE } }));
  if (!Array.isArray(returns)) return;
  for (const one of returns as unknown[]) {
    const reference = isFields(one) ? fieldText(one['reference']) : undefined;
    const reasonCode = isFields(one) ? fieldText(one['reasonCode']) : undefined;
    if (reference === undefined || reasonCode === undefined) continue;
    await take({ reference, outcome: { kind: 'returned', reasonCode } });
    await http.post(`${RETURNS}/${encodeURIComponent(reference)}/acknowledgement`);
  }
}
