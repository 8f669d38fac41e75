import { Type } from '@sinclair/typebox';
import type { AxiosInstance, AxiosResponse } from 'axios';
import {
  BANK_ADVICE_LENGTH_MAX,
  RESPONSE_CODES,
  finalCodeOf,
  formatAmountE4,
  simulatorTakes,
} from '@gateway/contracts';
import type { CallFault, Counterpart } from '@gateway/outbound';
import { lane, neverSent, openCounterpart } from '@gateway/outbound';
import type { AnswerFields } from '@gateway/service-kit';
import {
  authorityFile,
  calledAddress,
  ConfigurationError,
  fieldsIn,
  identitySettings,
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

export const settings = Type.Object({
  SIMULATOR_URL: Type.Optional(
    calledAddress({
      description: 'Connector `simulator`: address of the simulator; unset, payouts in XTS wait',
    }),
  ),
  SIMULATOR_CA_FILE: authorityFile('the simulator'),
  SIMULATOR_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 5_000,
    description: 'Connector `simulator`: time-out of a call',
  }),
  ...identitySettings,
});

/** How long a call may wait for a place. */
const WAIT_MS = 2_000;
const INQUIRIES = 64;
/** The party whose share is used by calls that belong to no account. */
const NO_ACCOUNT = 'gateway';

const ASK_FOR_RETURNS_EVERY_MS = 1_000;
const RETURNS_AT_ONCE = 100;

const PAYOUTS = '/bank/v1/payouts';
const RETURNS = '/bank/v1/returns';

type Lane = 'arriving' | 'stored' | 'inquiries';

/** Talks to the sandbox bank's API. Every replica asks for returns; a repeated return has no effect. */
export function createSimulatorConnector(context: BankContext): OpenBank {
  const { env, simulatedMoney, callsAtOnce, proxy, metrics, logger } = context;
  const { SIMULATOR_URL, SIMULATOR_CA_FILE, SIMULATOR_TIMEOUT_MS, IDENTITY_TOKEN } = loadConfig(settings, env);
  if (SIMULATOR_URL === undefined) {
    throw new ConfigurationError('Configuration: PAYOUT_BANK is simulator, and SIMULATOR_URL is not set.');
  }
  // Separate halves, so that arriving payouts never overtake stored ones for good.
  const half = lane(Math.floor(callsAtOnce / 2), WAIT_MS);
  const bank = openCounterpart<Lane>({
    name: 'simulator-bank',
    baseUrl: SIMULATOR_URL,
    timeoutMs: SIMULATOR_TIMEOUT_MS,
    identityToken: IDENTITY_TOKEN,
    caFile: SIMULATOR_CA_FILE,
    proxy,
    lanes: { arriving: half, stored: half, inquiries: lane(INQUIRIES, WAIT_MS) },
    metrics,
  });
  const returns = repeat({
    name: 'asking the bank for returns',
    everyMs: ASK_FOR_RETURNS_EVERY_MS,
    work: () => takeReturns(bank, take),
    logger,
  });
  let take: (news: BankNews) => Promise<NewsVerdict>;

  return {
    name: 'simulator',
    longestCallMs: bank.longestMs('stored'),
    callMs: SIMULATOR_TIMEOUT_MS,
    placeForNew: (merchantAccount) => bank.tryEnter('arriving', merchantAccount),
    async submit(instruction, { place, instead } = {}) {
      const { currency, reference } = instruction;
      if (!simulatorTakes(currency, simulatedMoney)) {
        place?.leave();
        // A payout of a time when that was allowed.
        logger.error('a payout stays: the simulator must not take its currency', { reference, currency });
        return { kind: 'not-sent' };
      }
      return bank.call<SubmitAnswer>(place === undefined ? 'stored' : 'arriving', {
        party: instruction.merchantAccount,
        operation: 'submit',
        place,
        lateAnswer: instead,
        send: (http) => post(http, instruction),
        read: answerIn,
        onFault: answerOfFault,
      });
    },
    inquire: (reference, merchantAccount) =>
      bank.call<Inquiry>('inquiries', {
        party: merchantAccount,
        operation: 'inquire',
        send: (http) => http.get(`${PAYOUTS}/${reference}`),
        read: inquiryIn,
        onFault: () => ({ kind: 'unknown' }),
      }),
    cancel: (reference, merchantAccount) =>
      bank.call<Cancellation>('inquiries', {
        party: merchantAccount,
        operation: 'cancel',
        send: (http) => http.post(`${PAYOUTS}/${reference}/cancel`),
        read: cancellationIn,
        onFault: () => ({ kind: 'unknown' }),
      }),
    start(taking) {
      take = taking;
      returns.start();
      return Promise.resolve();
    },
    async stop() {
      await returns.stop();
      bank.close();
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

function answerIn(response: AxiosResponse<unknown>): SubmitAnswer {
  if (response.status !== 200) return { kind: 'unknown', code: RESPONSE_CODES.BANK_INTERNAL_ERROR };
  const fields = fieldsIn(response);
  const isUnknown = fields.word('result', ['unknown']) !== undefined;
  if (isUnknown) return { kind: 'unknown', code: RESPONSE_CODES.BANK_STATUS_UNKNOWN };
  return outcomeIn('result', fields) ?? { kind: 'unknown', code: RESPONSE_CODES.BANK_RESPONSE_MALFORMED };
}

function answerOfFault(fault: CallFault): SubmitAnswer {
  if (neverSent(fault)) return { kind: 'not-sent' };
  return {
    kind: 'unknown',
    code: fault === 'timed-out' ? RESPONSE_CODES.BANK_TIMEOUT : RESPONSE_CODES.BANK_CONNECTION_ERROR,
  };
}

/** Undefined if the field is not an outcome. A code that is none of the outcome's becomes the general one. */
function outcomeIn(field: 'result' | 'status', fields: AnswerFields): BankOutcome | undefined {
  const kind = fields.word(field, ['settled', 'declined', 'frauded', 'failed']);
  const bank = bankFacts(fields);
  const code = fields.text('code');
  switch (kind) {
    case 'settled':
      return { kind, bank };
    case 'declined':
      return { kind, code: finalCodeOf(code, 'bank-decline') ?? RESPONSE_CODES.DECLINED_BY_NETWORK, bank };
    case 'frauded':
      return { kind, code: finalCodeOf(code, 'antifraud') ?? RESPONSE_CODES.ANTIFRAUD_DECLINE, bank };
    case 'failed':
      return { kind, code: finalCodeOf(code, 'payout') ?? RESPONSE_CODES.PAYOUT_ERROR, bank };
    case undefined:
      return undefined;
  }
}

function bankFacts(fields: AnswerFields): BankFacts {
  const bank = fields.object('bank');
  const facts: Record<keyof BankFacts, string | undefined> = {
    transactionId: fields.text('transactionId'),
    id: bank.text('id'),
    name: bank.text('name'),
    advice: bank.text('advice', BANK_ADVICE_LENGTH_MAX),
    reasonCode: bank.text('reasonCode'),
    reasonDescription: bank.text('reasonDescription'),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function inquiryIn(response: AxiosResponse<unknown>): Inquiry {
  const fields = fieldsIn(response);
  const kind = fields.word('status', ['not-found', 'cancelled']);
  return kind === undefined ? (outcomeIn('status', fields) ?? { kind: 'unknown' }) : { kind };
}

function cancellationIn(response: AxiosResponse<unknown>): Cancellation {
  const fields = fieldsIn(response);
  const kind = fields.word('status', ['cancelled']);
  return kind === undefined ? (outcomeIn('status', fields) ?? { kind: 'unknown' }) : { kind };
}

/**
 * The bank reports a return until it is acknowledged, which happens as soon as it was handled, with whatever result.
 */
async function takeReturns(bank: Counterpart<Lane>, take: (news: BankNews) => Promise<NewsVerdict>): Promise<void> {
  const { returns } = await bank.call<{ kind: string; returns: AnswerFields[] }>('inquiries', {
    party: NO_ACCOUNT,
    operation: 'returns',
    send: (http) => http.get(RETURNS, { params: { limit: RETURNS_AT_ONCE } }),
    read: (response) => ({ kind: 'answered', returns: fieldsIn(response).list('returns', RETURNS_AT_ONCE) }),
    onFault: () => ({ kind: 'unknown', returns: [] }),
  });
  for (const one of returns) {
    const reference = one.text('reference');
    const reasonCode = one.text('reasonCode');
    if (reference === undefined || reasonCode === undefined) continue;
    await take({ reference, outcome: { kind: 'returned', reasonCode } });
    await acknowledge(bank, reference);
  }
}

/** A lost one is reported again. */
async function acknowledge(bank: Counterpart<Lane>, reference: string): Promise<void> {
  await bank.call('inquiries', {
    party: NO_ACCOUNT,
    operation: 'acknowledge',
    send: (http) => http.post(`${RETURNS}/${encodeURIComponent(reference)}/acknowledgement`),
    read: () => ({ kind: 'answered' }),
    onFault: () => ({ kind: 'unknown' }),
  });
}
