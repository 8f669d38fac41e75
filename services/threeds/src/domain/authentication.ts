import type { AuthenticateCardholderData, AuthenticationIds, ResponseCode, TestMark } from '@gateway/contracts';
import { testMark } from '@gateway/contracts';

/** The stored facts of a card: enough for a page and the ECI, not enough to charge it. */
export interface CardFacts {
  scheme: Scheme;
  lastDigits: string;
}

/** Mastercard numbers its ECIs differently from all other schemes. */
export type Scheme = 'mastercard' | 'other';

/** The content of the result message, kept to recognize a repetition. */
export interface ChallengeResult {
  transStatus: ResultStatus;
  eci?: string;
  authenticationValue?: string;
  challengeCancel?: string;
}

export const RESULT_STATUSES = ['Y', 'N', 'A', 'U', 'R'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

export type State =
  /** The request to the directory server is pending or running. */
  | { kind: 'requested' }
  /**
   * The cardholder has to act. From `expiresAt` (epoch ms) on, results are refused. `clockMs`: how far the clock of a
   * sandbox account was ahead when `expiresAt` last followed it. `dueClockMs`: how far when `expiresAt` was due, if that
   * was in a move.
   */
  | {
      kind: 'challenge';
      acsUrl: string;
      card: CardFacts;
      expiresAt: number;
      clockMs?: number;
      dueClockMs?: number;
    }
  | {
      kind: 'authenticated';
      challenged: boolean;
      eci: number;
      authenticationValue: string;
      result?: ChallengeResult;
    }
  | { kind: 'refused'; challenged: boolean; code: ResponseCode; eci?: number; result?: ChallengeResult };

/** The authentication for one AUTH3D or SALE3D, identified by its reference. */
export interface Authentication
  extends
    Pick<
      AuthenticateCardholderData,
      | 'paymentId'
      | 'reference'
      | 'merchantAccount'
      | 'transactionType'
      | 'transactionUniqueId'
      | 'amountE4'
      | 'currency'
      | 'redirectUrl'
      | 'deadline'
    >,
    TestMark {
  /**
   * The account's display name, if it had one at the start: a repeated request to the directory server must be the
   * same.
   */
  merchantName?: string;
  /** Random, at least 128 bits: knowing it grants access to the page. */
  pageId: string;
  /** Of the key of its proofs. Absent if an earlier release began it. */
  proofKeyId?: string;
  ids: AuthenticationIds;
  state: State;
  /** AUTH3D: the checked `TermUrl` of the merchant's page. */
  returnUrl?: string;
  /** Of the command; events caused by a browser or a clock carry it, too. */
  correlationId: string;
  /** Until the directory server has answered: any replica can repeat the request. */
  command?: Command;
  /** Epoch ms at which another replica may ask; present with `command`. */
  resolveAt?: number;
}

/** The input of the request to the directory server. */
export interface Command {
  data: AuthenticateCardholderData;
  /** Id of the message. */
  id: string;
}

/** Only some of these are announced to others; see `announcements.ts`. */
export type AuthenticationEvent =
  | {
      type: 'AuthenticationRequested';
      asked: AskedAuthentication;
      names: Names;
      /** Absent if the directory server is never asked. */
      request?: { command: Command; resolveAt: number };
    }
  | { type: 'ChallengeStarted'; ids: AuthenticationIds; acsUrl: string; card: CardFacts; expiresAt: number }
  | ({ type: 'Authenticated'; ids: AuthenticationIds } & Omit<Extract<State, { kind: 'authenticated' }>, 'kind'>)
  | ({ type: 'Refused'; ids: AuthenticationIds; dueClockMs?: number } & Omit<
      Extract<State, { kind: 'refused' }>,
      'kind'
    >)
  | { type: 'ReturnUrlChosen'; url: string }
  /** The challenge follows the clock of its sandbox account. */
  | { type: 'ChallengeMoved'; expiresAt: number; clockMs: number; dueClockMs?: number };

/** The part of an authentication that the command sets. */
export type AskedAuthentication = Omit<
  Authentication,
  'merchantName' | 'pageId' | 'proofKeyId' | 'ids' | 'state' | 'returnUrl' | 'correlationId' | 'command' | 'resolveAt'
>;

export interface Names {
  merchantName?: string;
  pageId: string;
  proofKeyId?: string;
  threeDSServerTransId: string;
  correlationId: string;
}

export function newAuthentication(asked: AskedAuthentication, names: Names): Authentication {
  return {
    paymentId: asked.paymentId,
    reference: asked.reference,
    merchantAccount: asked.merchantAccount,
    transactionType: asked.transactionType,
    transactionUniqueId: asked.transactionUniqueId,
    amountE4: asked.amountE4,
    currency: asked.currency,
    ...(asked.redirectUrl === undefined ? {} : { redirectUrl: asked.redirectUrl }),
    deadline: asked.deadline,
    ...testMark(asked.isTest),
    ...(names.merchantName === undefined ? {} : { merchantName: names.merchantName }),
    pageId: names.pageId,
    ...(names.proofKeyId === undefined ? {} : { proofKeyId: names.proofKeyId }),
    ids: { threeDSServerTransId: names.threeDSServerTransId },
    state: { kind: 'requested' },
    correlationId: names.correlationId,
  };
}

/** Undefined before `AuthenticationRequested`. */
export function evolve(authentication: Authentication | undefined, event: AuthenticationEvent): Authentication {
  if (event.type === 'AuthenticationRequested') {
    return { ...newAuthentication(event.asked, event.names), ...event.request };
  }
  if (authentication === undefined) throw new Error(`broken invariant: ${event.type} of no authentication`);
  // Once the directory server has answered, the command is deleted, with its data about the cardholder.
  const { command: _command, resolveAt: _resolveAt, ...answered } = authentication;
  switch (event.type) {
    case 'ChallengeStarted': {
      const { ids, acsUrl, card, expiresAt } = event;
      return { ...answered, ids, state: { kind: 'challenge', acsUrl, card, expiresAt } };
    }
    case 'Authenticated': {
      const { type: _type, ids, ...state } = event;
      return { ...answered, ids, state: { kind: 'authenticated', ...state } };
    }
    case 'Refused': {
      const { type: _type, ids, dueClockMs: _dueClockMs, ...state } = event;
      return { ...answered, ids, state: { kind: 'refused', ...state } };
    }
    case 'ReturnUrlChosen':
      return { ...authentication, returnUrl: event.url };
    case 'ChallengeMoved': {
      const { state } = authentication;
      if (state.kind !== 'challenge') throw new Error(`broken invariant: no challenge can move while ${state.kind}`);
      const { type: _type, ...moved } = event;
      return { ...authentication, state: { ...state, ...moved } };
    }
  }
}

/** What cardholders know the merchant by. */
export function merchantNameOf({ merchantName, merchantAccount }: Authentication): string {
  return merchantName ?? merchantAccount;
}

/** True once the outcome is final. */
export function hasEnded({ state }: Authentication): boolean {
  return state.kind === 'authenticated' || state.kind === 'refused';
}

/** True for a challenge past its `expiresAt` that has not been ended yet. */
export function isExpired({ state }: Authentication, now: number): boolean {
  return state.kind === 'challenge' && now >= state.expiresAt;
}
