import type { AxiosInstance, AxiosResponse } from 'axios';
import { AUTHCODE_LENGTH_MAX, BANK_ADVICE_LENGTH_MAX, RESPONSE_CODES } from '@gateway/contracts';
import type { CallFault, Counterpart } from '@gateway/outbound';
import { lane, neverSent, openCounterpart } from '@gateway/outbound';
import type { OutboundProxy, Registry } from '@gateway/service-kit';
import { ANSWER_TEXT_MAX } from '@gateway/service-kit';
import type {
  AcquirerAnswer,
  AcquirerConnector,
  AcquirerRequest,
  BankFacts,
  Cancellation,
  Inquiry,
} from '../../application/ports';
import type { CallKind } from '../../domain/payment';

/**
 * How to talk to an acquirer. A connector builds requests and reads answers of any HTTP status. It keeps no state and
 * never sees a fault. The idempotency key of every operation is its reference.
 */
export interface AcquirerTranslation {
  baseUrl: string;
  /** For a whole call. */
  timeoutMs: number;
  /** Presented as bearer token. */
  identityToken?: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile?: string | undefined;
  /** Absent if the acquirer gets operations in every currency. */
  takes?(currency: string): boolean;
  operate(http: AxiosInstance, operation: CallKind, request: AcquirerRequest): Promise<AxiosResponse<unknown>>;
  answerIn(response: AxiosResponse<unknown>): AcquirerAnswer;
  inquire(http: AxiosInstance, reference: string): Promise<AxiosResponse<unknown>>;
  inquiryIn(response: AxiosResponse<unknown>): Inquiry;
  /** Absent if the acquirer cannot cancel by key: then "not found" is never final, and an operator decides. */
  cancellation?: {
    send(http: AxiosInstance, reference: string): Promise<AxiosResponse<unknown>>;
    answerIn(response: AxiosResponse<unknown>): Cancellation;
  };
}

/** How long a merchant's operation may wait for a place. After that it fails without being sent. */
const WAIT_MS = 2_000;
/** VOIDs of expired holds, and inquiries about unknown outcomes. They get their places before they are claimed. */
const EXPIRY_CALLS = 64;
const INQUIRIES = 64;
/**
 * Opens an acquirer: wraps its connector in the call policy, with a lane per kind of work, and leaves out of its answers
 * what is too long to keep.
 */
export function openAcquirer(
  name: string,
  translation: AcquirerTranslation,
  { callsAtOnce, metrics, proxy }: { callsAtOnce: number; metrics: Registry; proxy?: OutboundProxy | undefined },
): AcquirerConnector {
  const { baseUrl, timeoutMs, identityToken, caFile, cancellation } = translation;
  const takes = (currency: string) => translation.takes?.(currency) ?? true;
  const lanes = {
    merchants: lane(callsAtOnce, WAIT_MS),
    expiry: lane(EXPIRY_CALLS, 0),
    inquiries: lane(INQUIRIES, WAIT_MS),
  };
  const counterpart = openCounterpart({ name, baseUrl, timeoutMs, identityToken, caFile, proxy, lanes, metrics });
  return {
    name,
    longestCallMs: counterpart.longestMs('merchants'),
    callMs: timeoutMs,
    takes,
    placeForExpiry: (merchantAccount) => counterpart.tryEnter('expiry', merchantAccount),
    async operate(operation, request) {
      if (!takes(request.currency)) return { kind: 'not-executed', code: RESPONSE_CODES.BANK_CONNECTION_ERROR };
      return counterpart.call<AcquirerAnswer>(request.place === undefined ? 'merchants' : 'expiry', {
        party: request.merchantAccount,
        operation,
        place: request.place,
        lateAnswer: request.lateAnswer,
        send: (http) => translation.operate(http, operation, request),
        read: (response) => bounded(translation.answerIn(response)),
        onFault: answerOfFault,
      });
    },
    inquire: ({ merchantAccount, reference }) =>
      counterpart.call<Inquiry>('inquiries', {
        party: merchantAccount,
        operation: 'inquire',
        send: (http) => translation.inquire(http, reference),
        read: (response) => bounded(translation.inquiryIn(response)),
        onFault: () => ({ kind: 'unknown' }),
      }),
    ...(cancellation === undefined ? {} : { cancel: (operation) => cancel(counterpart, cancellation, operation) }),
    close: () => counterpart.close(),
  };
}

function cancel(
  counterpart: Counterpart<'inquiries'>,
  { send, answerIn }: NonNullable<AcquirerTranslation['cancellation']>,
  { merchantAccount, reference }: { merchantAccount: string; reference: string },
): Promise<Cancellation> {
  return counterpart.call<Cancellation>('inquiries', {
    party: merchantAccount,
    operation: 'cancel',
    send: (http) => send(http, reference),
    read: (response) => bounded(answerIn(response)),
    onFault: () => ({ kind: 'unknown' }),
  });
}

/**
 * The outcome is certain, however odd the rest of the answer. Without these bounds a fact of it could make the payment
 * unreadable, and its merchant would not learn that it has charged.
 */
function bounded<Answer extends { kind: string; authcode?: string | null; bank?: BankFacts }>(answer: Answer): Answer {
  const { authcode, bank } = answer;
  return {
    ...answer,
    ...(typeof authcode === 'string' && authcode.length > AUTHCODE_LENGTH_MAX ? { authcode: null } : {}),
    ...(bank === undefined ? {} : { bank: boundedFacts(bank) }),
  };
}

/** Left out, not cut: a part of an id would be another id. */
function boundedFacts(bank: BankFacts): BankFacts {
  const boundOf = (name: string): number => (name === 'advice' ? BANK_ADVICE_LENGTH_MAX : ANSWER_TEXT_MAX);
  const facts: Record<string, string> = { ...bank };
  return Object.fromEntries(Object.entries(facts).filter(([name, fact]) => fact.length <= boundOf(name)));
}

function answerOfFault(fault: CallFault): AcquirerAnswer {
  if (neverSent(fault)) return { kind: 'not-executed', code: RESPONSE_CODES.BANK_CONNECTION_ERROR };
  return {
    kind: 'unknown',
    code: fault === 'timed-out' ? RESPONSE_CODES.BANK_TIMEOUT : RESPONSE_CODES.BANK_CONNECTION_ERROR,
  };
}
