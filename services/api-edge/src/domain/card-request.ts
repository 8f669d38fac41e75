import type { Customer, MerchantNotes, Secret, TransactionType } from '@gateway/contracts';
import type { Subject } from './subject';

/** The card data for the vault, and nowhere else. Month `01` to `12`, year with four digits. */
export interface CardData {
  readonly pan: string;
  readonly expMonth: string;
  readonly expYear: string;
  readonly holder: string;
}

/** Card data as sent. */
export interface FullCard {
  readonly kind: 'card';
  readonly card: Secret<CardData>;
  readonly cvv?: Secret;
}

/** A card that is in the vault. */
export interface CardToken {
  readonly kind: 'token';
  readonly token: string;
}

export type CofType = 'CIT-initial' | 'CIT-subsequent' | 'MIT';

interface Operation<T extends TransactionType> {
  readonly transactionType: T;
  readonly transactionUniqueId: string;
  readonly notes: MerchantNotes;
}

interface Money {
  readonly amountE4: number;
  readonly currency: string;
}

interface CardOperation<T extends TransactionType> extends Operation<T>, Money {
  readonly midReference?: string;
  readonly cofType?: CofType;
  readonly customer: Customer;
  /** Address for the final outcome, of 3-D Secure requests and card-entry pages, and for callbacks about a hold. */
  readonly callbackUrl?: string;
}

/** The AUTH3D that an AUTH or SALE relies on, and its PaRes. */
export interface AuthenticationProof {
  readonly reference: string;
  readonly pares: string;
}

export interface PurchaseRequest<T extends 'AUTH' | 'SALE' = 'AUTH' | 'SALE'> extends CardOperation<T> {
  readonly instrument: FullCard | CardToken;
  readonly authentication?: AuthenticationProof;
}

export interface Auth3dRequest extends CardOperation<'AUTH3D'> {
  readonly instrument: FullCard;
  readonly redirectUrl?: string;
}

export interface Sale3dRequest extends CardOperation<'SALE3D'> {
  readonly instrument: FullCard;
  readonly redirectUrl: string;
}

/** Request types of a card-entry page. */
export const CHECKOUT_TYPES = ['AUTH', 'SALE', 'SALE3D'] as const;
export type CheckoutType = (typeof CHECKOUT_TYPES)[number];

/** A merchant's request for a card-entry page: everything but the card. */
export interface CheckoutRequest extends CardOperation<CheckoutType> {
  readonly redirectUrl: string;
}

export interface SettleRequest extends Operation<'SETTLE'>, Money {
  readonly baseReference: string;
}

export interface VoidRequest extends Operation<'VOID'> {
  readonly baseReference: string;
}

export interface RefundRequest extends Operation<'REFUND'>, Money {
  readonly baseReference: string;
}

/** Its CVV, if any, was checked and discarded. */
export interface TokenizeRequest extends Operation<'TOKENIZE'> {
  readonly card: Secret<CardData>;
}

export interface CheckRequest {
  readonly transactionType: 'CHECK';
  readonly by: Subject;
}

/** A request with valid fields, by transaction type. Its free text shows no card number. */
export interface CardRequests {
  readonly AUTH: PurchaseRequest<'AUTH'>;
  readonly AUTH3D: Auth3dRequest;
  readonly SALE: PurchaseRequest<'SALE'>;
  readonly SALE3D: Sale3dRequest;
  readonly SETTLE: SettleRequest;
  readonly VOID: VoidRequest;
  readonly REFUND: RefundRequest;
  readonly CHECK: CheckRequest;
  readonly TOKENIZE: TokenizeRequest;
}
export type CardRequest = CardRequests[TransactionType];
