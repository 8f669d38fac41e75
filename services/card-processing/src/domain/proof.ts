import { RESPONSE_CODES } from '@gateway/contracts';
import type { Payment } from './payment';
import { findOperation } from './payment';
import type { Rejection } from './rejections';

/** A purchase that relies on an AUTH3D. */
export interface ProvenPurchase {
  /** Of the AUTH3D. */
  reference: string;
  token: string;
  amountE4: number;
  currency: string;
  paresHash?: string | undefined;
  /** Other tokens of the same card. */
  cardTokens?: readonly string[] | undefined;
  now: number;
}

const PROOF_LIFETIME_MS = 24 * 3_600_000;

/**
 * Why a purchase with `pares` is refused (decisions.md, section 4); undefined if its proof is valid. A proof is bound
 * to account, AUTH3D, card, amount and currency. It is unused only while the state is `authenticated`.
 */
export function proofRejection(payment: Payment, asked: ProvenPurchase): Rejection | undefined {
  const base = findOperation(payment, asked.reference);
  const { state } = payment;
  if (base?.type !== 'AUTH3D') return 'reference-not-found';
  // Whatever its challenge page has decided since.
  if (state.kind === 'voided' && state.hold === undefined) return 'already-voided';
  if (base.status === 'pending') return 'reference-not-found';
  const { proofHash } = base.authentication ?? {};
  if (proofHash === undefined || proofHash !== asked.paresHash) return 'not-authenticated';
  if (base.status !== 'success')
    return base.code === RESPONSE_CODES.CANCELLED_BY_CARDHOLDER ? 'cancelled' : 'not-authenticated';
  if (state.kind !== 'authenticated') return 'completed';
  if (![asked.token, ...(asked.cardTokens ?? [])].includes(state.proof.token)) return 'token-not-found';
  if (asked.amountE4 !== state.proof.amountE4 || asked.currency !== state.proof.currency) {
    return 'amount-or-currency-differs';
  }
  const { authenticatedAt, olderMs = 0 } = state.proof;
  return asked.now > authenticatedAt - olderMs + PROOF_LIFETIME_MS ? 'hold-ended' : undefined;
}
