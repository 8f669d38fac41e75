import type { MaskedCard } from '../masked-card';
import type { CardBehaviour } from './test-cards';

/** An AReq as the directory server keeps it. Fields that are EMVCo's bear EMVCo's names. */
export interface AuthenticationRequest {
  threeDSServerTransID: string;
  /** Where the result of a challenge goes. */
  threeDSServerURL: string;
  /** Where the browser goes after a challenge. */
  notificationURL: string;
  card: MaskedCard;
  behaviour: CardBehaviour;
  merchantName: string;
  /** In 1/10000 of the currency. */
  amountE4: number;
  /** ISO 4217 numeric, e.g. `963`. */
  purchaseCurrency: string;
}

/** How an authentication ended, in the words of ARes and RReq. */
export interface AuthenticationOutcome {
  transStatus: 'Y' | 'A' | 'N' | 'R';
  transStatusReason?: string;
  eci?: string;
  /** The issuer's cryptogram: 28 characters, base64 of 20 bytes. */
  authenticationValue?: string;
  /** `01`: cancelled by the cardholder. */
  challengeCancel?: '01';
}

export const CHALLENGE_DECISIONS = ['success', 'failure', 'cancel'] as const;
/** What the cardholder, or whoever plays one, chose on the issuer's page. */
export type ChallengeDecision = (typeof CHALLENGE_DECISIONS)[number];

/** Where the result message has got to. */
export type Delivery =
  /** `attempts` have failed; nobody else is to try before `nextAt`, epoch ms. */
  | { state: 'due'; attempts: number; nextAt: number }
  /** `refused`: the 3DS server does not want it. `given-up`: it never took it. */
  | { state: 'taken' | 'refused' | 'given-up'; attempts: number };

interface Identified {
  acsTransID: string;
  dsTransID: string;
  request: AuthenticationRequest;
  /** Epoch ms of the request. */
  at: number;
}

/** Ended without a challenge. */
export type AnsweredAuthentication = Identified & { state: 'answered'; outcome: AuthenticationOutcome };

/** Waits for the cardholder. */
export type OpenChallenge = Identified & {
  state: 'challenged';
  /** Becomes the outcome's if the challenge succeeds. */
  authenticationValue: string;
};

export type DecidedChallenge = Identified & {
  state: 'decided';
  decision: ChallengeDecision;
  /** Epoch ms. */
  decidedAt: number;
  outcome: AuthenticationOutcome;
  delivery: Delivery;
};

/** All that directory server and ACS know about one authentication. */
export type Authentication = AnsweredAuthentication | OpenChallenge | DecidedChallenge;

/** True when a repeated transaction id comes with what it came with first, as far as that was kept. */
export function sameAuthentication(a: AuthenticationRequest, b: AuthenticationRequest): boolean {
  return (
    a.threeDSServerURL === b.threeDSServerURL &&
    a.notificationURL === b.notificationURL &&
    a.card.brand === b.card.brand &&
    a.card.last4 === b.card.last4 &&
    a.behaviour === b.behaviour &&
    a.merchantName === b.merchantName &&
    a.amountE4 === b.amountE4 &&
    a.purchaseCurrency === b.purchaseCurrency
  );
}
