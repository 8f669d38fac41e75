/** At most four decimals. A string keeps its digits. */
export type Amount = string | number;

/** Fields of your own. They travel in the gateway's events, never in answers or callbacks. */
interface CustomFields {
  [name: `custom_${string}`]: string | undefined;
}

/** What every operation has. */
export interface Identified extends CustomFields {
  /**
   * Names this operation at your account, for good: 11 to 45 characters without spaces. Pass one that you have stored with
   * the order, and the call can be repeated after a restart. By default a random one.
   */
  transaction_unique_id?: string | undefined;
}

interface Money {
  amount: Amount;
  /** ISO 4217, or XTS in the sandbox. */
  currency: string;
}

/** For your own reports. */
interface Notes {
  merchant_user_id?: string | undefined;
  descriptor_merchant?: string | undefined;
  descriptor_phone?: string | undefined;
}

interface MoreNotes extends Notes {
  merchant_domain_name?: string | undefined;
  merchant_affiliate_id?: string | undefined;
  merchant_product_name?: string | undefined;
}

interface Customer {
  first_name: string;
  last_name: string;
  address?: string | undefined;
  city?: string | undefined;
  state?: string | undefined;
  zip?: string | undefined;
  /** ISO 3166-1, three letters. */
  country: string;
  /** With a leading + in the sandbox. */
  user_phone?: string | undefined;
  user_email: string;
  /** The customer's own address, IPv4 or IPv6: rules against card testing need it. */
  user_ip: string;
  /** YYYY-MM-DD. */
  date_of_birth?: string | undefined;
}

interface Purchase extends Identified, Money, Customer, MoreNotes {
  /** One terminal of the account. */
  mid_reference?: string | undefined;
  cof_type?: 'CIT-initial' | 'CIT-subsequent' | 'MIT' | undefined;
}

/** Card data. Only shops that are certified for it may handle it; all others use `checkout`. */
interface Card {
  card_number: string;
  /** '01' to '12'. */
  card_exp_month: string;
  /** Four digits. */
  card_exp_year: string;
  cvv?: string | undefined;
}

interface Cardholder {
  card_holder: string;
}

/** A card that an earlier answer gave a token for. */
interface CardToken {
  token: string;
}

/** What the browser brought back after an AUTH3D. Both or neither. */
interface Authentication {
  pares?: string | undefined;
  /** Of the AUTH3D. */
  reference?: string | undefined;
}

/** A SALE or an AUTH, with card data or a token. */
export type ChargeRequest = Purchase & Cardholder & Authentication & (Card | CardToken);

export interface Sale3dRequest extends Purchase, Cardholder, Card {
  /** https. Gets the final outcome. */
  callback_url: string;
  /** https. Where the browser ends. */
  redirect_url: string;
}

export interface Auth3dRequest extends Purchase, Cardholder, Card {
  callback_url?: string | undefined;
  redirect_url?: string | undefined;
}

export interface SettleRequest extends Identified, Money, MoreNotes {
  /** Of the AUTH. */
  reference: string;
}

export interface RefundRequest extends Identified, Money, Notes {
  /** Of the SALE, SALE3D or SETTLE. */
  reference: string;
}

export interface VoidRequest extends Identified, Notes {
  /** Of the AUTH or AUTH3D. */
  reference: string;
}

export interface TokenizeRequest extends Identified, Cardholder, Card {}

/** A card-entry page: the cardholder types the card into the gateway's own page. */
export interface CheckoutRequest extends Purchase {
  transaction_type: 'AUTH' | 'SALE' | 'SALE3D';
  /** https. Where the browser ends. */
  redirect_url: string;
  /** https. Gets the final outcome. */
  callback_url?: string | undefined;
}

/** A SEPA payout. Its id may have 1 to 45 characters. */
export interface PayoutRequest extends Identified, Money {
  /** https. Gets the final outcome. */
  callback_url: string;
  receiver_iban: string;
  receiver_name: string;
  transfer_description: string;
  receiver_type?: 'PERSONAL' | 'LEGAL' | undefined;
  receiver_code?: string | undefined;
  receiver_bic?: string | undefined;
  /** Deprecated by the interface, in favour of the fields below. */
  receiver_address?: string | undefined;
  receiver_city?: string | undefined;
  receiver_country?: string | undefined;
  receiver_zip?: string | undefined;
  receiver_street?: string | undefined;
  receiver_building_number?: string | undefined;
  receiver_apartment?: string | undefined;
}

/** Which operation a question is about. */
export type Subject = { transaction_unique_id: string } | { reference: string };

/** All callbacks of the account, or only those of one payment or payout. */
export interface CallbackQuery {
  /** It wins when both are given. */
  transaction_unique_id?: string | undefined;
  reference?: string | undefined;
  /** Unix seconds: no older ones. */
  time_from?: number | undefined;
  /** 1 to 50; 20 by default. */
  limit?: number | undefined;
  /** Of the page before. */
  cursor?: string | undefined;
}

export interface ClockRequest {
  /** By how many seconds the clock moves forward: 1 to 2592000, which is 30 days. Without it, it is only read. */
  advance?: number | undefined;
}

export interface PayoutQuery {
  /** Unix seconds; both ends are included. */
  time_from: number;
  time_to: number;
  order?: 'asc' | 'desc' | undefined;
  /** From 1. */
  page?: number | undefined;
  /** 1 to 1000. */
  limit?: number | undefined;
}
