import { randomUUID } from 'node:crypto';
import { recordsIn } from './answers';
import type { CallbackListing } from './callback-list';
import { callbackListing, callbacksRequest } from './callback-list';
import { ask, CARDS, checkRequest, follow, PAYOUTS } from './check';
import type { Family } from './check';
import { RESPONSE_CODES } from './codes';
import { startDeadline } from './deadline';
import type { CheckRecord, Closed, Failed, Open, Outcome, Page, Pending } from './outcomes';
import { closed, finalOutcome, unknown } from './outcomes';
import { perform } from './perform';
import type {
  Auth3dRequest,
  CallbackQuery,
  ChargeRequest,
  CheckoutRequest,
  ClockRequest,
  Identified,
  PayoutQuery,
  PayoutRequest,
  RefundRequest,
  Sale3dRequest,
  SettleRequest,
  Subject,
  TokenizeRequest,
  VoidRequest,
} from './requests';
import { isSafeAddress } from './safe-address';
import type { ClockOutcome } from './sandbox-clock';
import { turnClock } from './sandbox-clock';
import { createSend } from './send';
import { createTransport } from './transport';

const CARD_PATH = '/api/pf/host-to-host';
const CHECKOUT_PATH = '/api/pf/checkout';
const CLOSE_PATH = '/api/pf/checkout/expire';
const PAYOUT_PATH = '/api/mp/payout';
const LISTING_PATHS = { 'with-fee': '/api/mp/transactions', 'without-fee': '/api/mp/transactions/ra' } as const;

/** The gateway's own 30 s for an outcome, and as long to ask what became of it. */
const TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 64;

export interface ClientOptions {
  /** Of the gateway: `https://host[:port]`. */
  baseUrl: string;
  account: string;
  password: string;
  /** The deadline of each call, in all. Default 60 s. */
  timeoutMs?: number | undefined;
  /** At once; further calls wait for one. Default 64. */
  maxConnections?: number | undefined;
  /** PEM of the authority that the gateway's certificate is trusted by, in place of Node's. */
  ca?: string | undefined;
  /** Allows http to other hosts than this machine. Card data and the password travel in clear. */
  allowHttp?: boolean | undefined;
}

export interface CallOptions {
  /** In place of the client's. */
  timeoutMs?: number | undefined;
}

type Charged = Outcome<'approved' | 'declined' | 'error' | 'unknown'>;

/** A payout is `pending` until the bank has answered, which may take hours. */
export type PayoutOutcome = Charged | Pending;

/** The records that a question found. */
export interface Listing<Item> {
  readonly kind: 'found';
  /** Oldest first, unless asked for otherwise. */
  readonly transactions: readonly Item[];
}

/** A payout in a listing. */
export interface PayoutRecord extends Omit<CheckRecord, 'timestamp' | 'authcode'> {
  readonly amount: number;
  readonly currency: string;
  /** Unix seconds: when it was accepted. */
  readonly time: number;
  /** Says that the money has come back, and why. */
  readonly change_reason_type?: string;
}

/**
 * The gateway's operations for one account. None throws for what the gateway, the bank or the network does: that is in the
 * outcome. Each call has one deadline, and no operation is ever carried out twice.
 */
export interface Client {
  /** Collects an amount. */
  sale(request: ChargeRequest, options?: CallOptions): Promise<Charged>;
  /** Holds an amount, until `settle` or `void`. */
  auth(request: ChargeRequest, options?: CallOptions): Promise<Charged>;
  /** SALE with 3-D Secure: usually a `challenge`, whose outcome comes by callback. */
  sale3d(request: Sale3dRequest, options?: CallOptions): Promise<Outcome>;
  /** Authenticates only. A following `sale` or `auth` brings `pares` and `reference`. */
  auth3d(request: Auth3dRequest, options?: CallOptions): Promise<Outcome>;
  settle(request: SettleRequest, options?: CallOptions): Promise<Charged>;
  refund(request: RefundRequest, options?: CallOptions): Promise<Charged>;
  void(request: VoidRequest, options?: CallOptions): Promise<Charged>;
  /** A token for a card, without a charge. */
  tokenize(request: TokenizeRequest, options?: CallOptions): Promise<Charged>;
  /** Opens a card-entry page, so that card data never passes through the shop. */
  checkout(request: CheckoutRequest, options?: CallOptions): Promise<Page | Outcome<'error' | 'unknown'>>;
  /**
   * Closes a card-entry page at once, whatever the cardholder does. Repeat it after `error` or `unknown`: that is
   * harmless. After `closed` with `under_way`, `outcomeOf` tells how the attempt ends.
   */
  closeCheckout(
    page: { transaction_unique_id: string },
    options?: CallOptions,
  ): Promise<Closed | Outcome<'error' | 'unknown'>>;
  /** CHECK: the operation, then those based on it. */
  check(subject: Subject, options?: CallOptions): Promise<Listing<CheckRecord> | Failed>;
  /**
   * Asks with CHECK until the outcome is known. `open`: a card-entry page on which somebody may still pay; every other
   * outcome of a page but `unknown` is final. Code 3014: the gateway has not taken such an operation, or nobody has tried to
   * pay on the page, which has ended.
   */
  outcomeOf(subject: Subject, options?: CallOptions): Promise<Charged | Open>;
  /** Pays an IBAN. */
  payout(request: PayoutRequest, options?: CallOptions): Promise<PayoutOutcome>;
  payoutOutcomeOf(subject: Subject, options?: CallOptions): Promise<PayoutOutcome>;
  /** Payouts by the time of acceptance. `amounts`: with the account's fee (the default) or without. */
  payouts(
    query: PayoutQuery,
    options?: CallOptions & { amounts?: 'with-fee' | 'without-fee' | undefined },
  ): Promise<Listing<PayoutRecord> | Failed>;
  /** The account's callbacks with their attempts, newest first. */
  callbacks(query?: CallbackQuery, options?: CallOptions): Promise<CallbackListing | Failed>;
  /**
   * Moves the clock of a sandbox account forward, or reads it. What is due by then happens: holds end, callbacks are
   * retried, challenges time out. Other accounts get an `error` with code 2004. `unknown`: it may have moved; reading
   * it tells.
   */
  sandboxClock(request?: ClockRequest, options?: CallOptions): Promise<ClockOutcome>;
  /** Closes idle connections. */
  close(): void;
}

/** Throws a TypeError if the options cannot work. */
export function createClient(options: ClientOptions): Client {
  const { ca, timeoutMs = TIMEOUT_MS, maxConnections = MAX_CONNECTIONS } = options;
  const transport = createTransport({ baseUrl: baseUrlOf(options), ca, maxConnections });
  const send = createSend(transport, options);
  const deadlineOf = (call: CallOptions = {}) => startDeadline(call.timeoutMs ?? timeoutMs);

  function operation<Kinds>(
    family: Family,
    path: string,
    fields: Identified,
    call: CallOptions | undefined,
    needsAnswer = false,
  ): Promise<Kinds> {
    const { transaction_unique_id: given } = fields;
    const transactionUniqueId = given ?? randomUUID();
    const named = { ...fields, transaction_unique_id: transactionUniqueId };
    const subject = { family, path, fields: named, transactionUniqueId, isOwnId: given === undefined, needsAnswer };
    // The gateway's contract says which kinds an operation has.
    return perform(send, subject, deadlineOf(call)) as Promise<Kinds>;
  }
  const card =
    <Request extends Identified, Kinds>(transaction_type: string, needsAnswer = false) =>
    (request: Request, call?: CallOptions): Promise<Kinds> =>
      operation(CARDS, CARD_PATH, { ...request, transaction_type }, call, needsAnswer);
  const outcomeIn =
    (family: Family) =>
    (subject: Subject, call?: CallOptions): Promise<PayoutOutcome | Open> => {
      const id = 'reference' in subject ? undefined : subject.transaction_unique_id;
      const asked = { family, subject, absence: 'final' } as const;
      return follow(send, asked, deadlineOf(call), unknown(id, 'the gateway has not answered'));
    };

  return {
    sale: card('SALE'),
    auth: card('AUTH'),
    sale3d: card('SALE3D', true),
    auth3d: card('AUTH3D', true),
    settle: card('SETTLE'),
    refund: card('REFUND'),
    void: card('VOID'),
    tokenize: card('TOKENIZE'),
    checkout: (request, call) => operation(CARDS, CHECKOUT_PATH, request, call, true),
    async closeCheckout({ transaction_unique_id: id }, call) {
      const asked = await ask(send, { path: CLOSE_PATH, fields: { transaction_unique_id: id } }, deadlineOf(call));
      return asked.kind === 'error' ? unknown(id, asked.message) : closed(asked.answer, id);
    },
    check: (subject, call) => listing(send, checkRequest(CARDS, subject), deadlineOf(call)),
    outcomeOf: outcomeIn(CARDS) as Client['outcomeOf'],
    payout(request, call) {
      const init = { method: 'init', type: 'sepa', ...request };
      return operation(PAYOUTS, PAYOUT_PATH, init, call);
    },
    payoutOutcomeOf: outcomeIn(PAYOUTS) as Client['payoutOutcomeOf'],
    payouts(query, { amounts = 'with-fee', ...call } = {}) {
      const request = { path: LISTING_PATHS[amounts], fields: { qod_type: 'transactions', ...query } };
      return listing(send, request, deadlineOf(call));
    },
    async callbacks(query = {}, call) {
      const asked = await ask(send, callbacksRequest(query), deadlineOf(call));
      return asked.kind === 'error' ? asked : callbackListing(asked.answer);
    },
    sandboxClock: (request = {}, call) => turnClock(send, request, deadlineOf(call)),
    close: () => transport.close(),
  };
}

/** An empty listing for an operation that the gateway does not know. */
async function listing<Item>(...question: Parameters<typeof ask>): Promise<Listing<Item> | Failed> {
  const asked = await ask(...question);
  if (asked.kind === 'error') return asked;
  const { answer } = asked;
  const isFound = answer.status === 'success' || answer.code === RESPONSE_CODES.TRANSACTION_NOT_FOUND;
  if (isFound) return { kind: 'found', transactions: recordsIn<Item>(answer, 'transactions') };
  return finalOutcome(answer) as Failed;
}

function baseUrlOf({ baseUrl, account, password, allowHttp }: ClientOptions): string {
  if (!baseUrl) throw new TypeError('baseUrl is missing');
  if (!account || !password) throw new TypeError('account and password must not be empty');
  const url = new URL(baseUrl);
  const { protocol, href, search, hash } = url;
  if (search !== '' || hash !== '') throw new TypeError('baseUrl must end with the path');
  if (!isSafeAddress(url) && !(protocol === 'http:' && allowHttp === true))
    throw new TypeError('baseUrl must begin with https://, except on this machine');
  return href.replace(/(?<!\/)\/+$/, '');
}
