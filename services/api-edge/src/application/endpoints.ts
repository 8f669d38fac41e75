import type { Account, AccountTransactionType } from '@gateway/accounts';
import { isEnabledType, isSandbox } from '@gateway/accounts';
import type { TransactionType } from '@gateway/contracts';
import { CALLBACK_EVENTS_TABLE, CALLBACK_LIST_TABLE, CALLBACK_RESEND_TABLE } from '../domain/callback-fields';
import type { CallbackEventsRequest, CallbackListRequest, CallbackResendRequest } from '../domain/callback-request';
import type { CardRequest, CheckoutRequest, CheckoutType } from '../domain/card-request';
import { CHECKOUT_TYPES } from '../domain/card-request';
import type { ClockRequest } from '../domain/clock-fields';
import { CLOCK_TABLE } from '../domain/clock-fields';
import { cardTable, checkoutTable } from '../domain/fields';
import type { LedgerRequest } from '../domain/ledger-fields';
import { LEDGER_TABLE } from '../domain/ledger-fields';
import type { BankAddresses } from '../domain/payout-fields';
import { PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable } from '../domain/payout-fields';
import type { PayoutQuery, PayoutRequest } from '../domain/payout-request';
import type { Subject } from '../domain/subject';
import { subjectTable } from '../domain/subject';
import { CARD_ECHOES } from './admit';
import type { OutcomeShape } from './answer-shapes';
import {
  AUTH3D_OUTCOMES,
  CARD_OUTCOMES,
  CHECK_OUTCOMES,
  CHECKOUT_EXPIRY_OUTCOMES,
  CHECKOUT_OUTCOMES,
  CLOCK_OUTCOMES,
  LEDGER_OUTCOMES,
  PAYOUT_CHECK_OUTCOMES,
  PAYOUT_OUTCOMES,
  PAYOUT_QUERY_OUTCOMES,
  SALE3D_OUTCOMES,
  TOKENIZE_OUTCOMES,
} from './answer-shapes';
import { CALLBACK_EVENTS_OUTCOMES, CALLBACK_LIST_OUTCOMES, CALLBACK_RESEND_OUTCOMES } from './callback-shapes';
import type { Endpoint, Operation } from './endpoint';
import { JSON_AND_FORM, JSON_ONLY } from './endpoint';

/** The merchants' API. Whoever adds an endpoint declares it here and gives it a handler in `edge-listener.ts`. */

interface CardOperation {
  title: string;
  summary: string;
  outcomes: readonly OutcomeShape[];
}

const CARD_OPERATIONS: Readonly<Record<TransactionType, CardOperation>> = {
  AUTH: {
    title: 'Auth',
    summary:
      'Holds an amount on the card until it is settled or voided, or the hold ends. With full card data or by token.',
    outcomes: CARD_OUTCOMES,
  },
  AUTH3D: {
    title: 'Auth3d',
    summary: 'Authenticates the cardholder and moves no money. A later AUTH or SALE sends the proof.',
    outcomes: AUTH3D_OUTCOMES,
  },
  SALE: {
    title: 'Sale',
    summary: 'Collects money at once. With full card data or by token.',
    outcomes: CARD_OUTCOMES,
  },
  SALE3D: {
    title: 'Sale3d',
    summary: 'Authenticates the cardholder, then collects money. The outcome comes by callback.',
    outcomes: SALE3D_OUTCOMES,
  },
  SETTLE: { title: 'Settle', summary: 'Collects the amount of an AUTH, or part of it.', outcomes: CARD_OUTCOMES },
  VOID: { title: 'Void', summary: 'Cancels an AUTH before it is settled, or an AUTH3D.', outcomes: CARD_OUTCOMES },
  REFUND: {
    title: 'Refund',
    summary: 'Refunds a SALE, SALE3D or SETTLE, fully or partly, once.',
    outcomes: CARD_OUTCOMES,
  },
  CHECK: { title: 'Check', summary: 'Returns the status of an operation.', outcomes: CHECK_OUTCOMES },
  TOKENIZE: { title: 'Tokenize', summary: 'Exchanges card data for a token.', outcomes: TOKENIZE_OUTCOMES },
};

const enabled =
  (type: AccountTransactionType) =>
  (account: Account): boolean =>
    isEnabledType(account, type);

const cardOperation = <T extends TransactionType>(transactionType: T): Operation<CardRequest> => {
  const table = cardTable(transactionType, { withHoldCallbacks: true });
  const plain = cardTable(transactionType);
  return {
    ...CARD_OPERATIONS[transactionType],
    transactionType,
    allows: enabled(transactionType),
    table,
    tableFor: ({ holdCallbackHours }) => (holdCallbackHours === undefined ? plain : table),
  };
};

export const cardEndpoint: Endpoint<CardRequest> = {
  path: '/api/pf/host-to-host',
  summary: 'Card operations',
  contentTypes: JSON_AND_FORM,
  family: 'card',
  echoed: CARD_ECHOES,
  takesKey: true,
  operations: (Object.keys(CARD_OPERATIONS) as TransactionType[]).map(cardOperation),
};

const checkoutOperation = (transactionType: CheckoutType): Operation<CheckoutRequest> => ({
  title: `Checkout${CARD_OPERATIONS[transactionType].title}`,
  summary: `Opens a card-entry page for a request of type ${transactionType}, without its card fields.`,
  transactionType,
  allows: enabled(transactionType),
  table: checkoutTable(transactionType),
  outcomes: CHECKOUT_OUTCOMES,
});

export const checkoutEndpoint: Endpoint<CheckoutRequest> = {
  path: '/api/pf/checkout',
  summary: 'Card-entry pages',
  contentTypes: JSON_AND_FORM,
  family: 'card',
  metricName: 'CHECKOUT',
  echoed: CARD_ECHOES,
  takesKey: true,
  operations: CHECKOUT_TYPES.map(checkoutOperation),
};

export const checkoutExpiryEndpoint: Endpoint<Subject> = {
  path: '/api/pf/checkout/expire',
  summary: 'Closes a card-entry page',
  contentTypes: JSON_AND_FORM,
  family: 'card',
  metricName: 'CHECKOUT_EXPIRE',
  echoed: CARD_ECHOES,
  takesKey: false,
  operations: [
    {
      title: 'CheckoutExpire',
      summary:
        'Closes a card-entry page at once, and tells whether an attempt is under way. It may be sent again at any time.',
      table: subjectTable(1),
      outcomes: CHECKOUT_EXPIRY_OUTCOMES,
    },
  ],
};

const aboutCallbacks = {
  contentTypes: JSON_AND_FORM,
  family: 'card',
  echoed: ['merchant_account'],
  takesKey: false,
} as const;

export const callbackListEndpoint: Endpoint<CallbackListRequest> = {
  ...aboutCallbacks,
  path: '/api/pf/callbacks',
  summary: 'Callbacks of the account',
  metricName: 'CALLBACKS',
  operations: [
    {
      title: 'CallbackList',
      summary: "Lists the account's callbacks with their attempts, newest first.",
      table: CALLBACK_LIST_TABLE,
      outcomes: CALLBACK_LIST_OUTCOMES,
    },
  ],
};

const ONLY_SANDBOX = 'Send it for a sandbox account: accounts with real money may not';

export const callbackEventsEndpoint: Endpoint<CallbackEventsRequest> = {
  ...aboutCallbacks,
  path: '/api/pf/callbacks/events',
  summary: 'Feed of callbacks, in the sandbox',
  metricName: 'CALLBACK_EVENTS',
  waits: true,
  operations: [
    {
      title: 'CallbackFeed',
      summary:
        'Waits for the next callbacks of a sandbox account. Without `cursor` and `since`: none, and the current cursor.',
      allows: isSandbox,
      whoMay: ONLY_SANDBOX,
      table: CALLBACK_EVENTS_TABLE,
      outcomes: CALLBACK_EVENTS_OUTCOMES,
    },
  ],
};

export const callbackResendEndpoint: Endpoint<CallbackResendRequest> = {
  ...aboutCallbacks,
  path: '/api/pf/callbacks/resend',
  summary: 'Sends a callback again, in the sandbox',
  metricName: 'CALLBACK_RESEND',
  operations: [
    {
      title: 'CallbackResend',
      summary: 'Sends one callback of a sandbox account again, whatever its state.',
      allows: isSandbox,
      whoMay: ONLY_SANDBOX,
      table: CALLBACK_RESEND_TABLE,
      outcomes: CALLBACK_RESEND_OUTCOMES,
    },
  ],
};

export const clockEndpoint: Endpoint<ClockRequest> = {
  path: '/api/sandbox/clock',
  summary: 'Clock of a sandbox account',
  contentTypes: JSON_AND_FORM,
  family: 'card',
  metricName: 'CLOCK',
  waits: true,
  echoed: ['merchant_account'],
  takesKey: true,
  operations: [
    {
      title: 'Clock',
      // Whether the account may is decided by its latest state, which the handler reads.
      summary: 'Moves the clock of a sandbox account forward, or returns its time. Other accounts: code 2004.',
      table: CLOCK_TABLE,
      outcomes: CLOCK_OUTCOMES,
    },
  ],
};

export const ledgerEndpoint: Endpoint<LedgerRequest> = {
  path: '/api/sandbox/ledger',
  summary: "Ledger of the sandbox's banks",
  contentTypes: JSON_AND_FORM,
  family: 'card',
  metricName: 'LEDGER',
  echoed: ['merchant_account'],
  takesKey: false,
  operations: [
    {
      title: 'Ledger',
      summary: "Shows what the sandbox's banks really did for one of the account's own operations or payouts in XTS.",
      table: LEDGER_TABLE,
      outcomes: LEDGER_OUTCOMES,
    },
  ],
};

/** `banks` decides about IBANs and BICs. */
export function payoutEndpoint(banks: BankAddresses): Endpoint<PayoutRequest> {
  return {
    path: '/api/mp/payout',
    summary: 'Payouts',
    contentTypes: JSON_ONLY,
    family: 'payout',
    metricName: 'PAYOUT',
    echoed: [],
    takesKey: true,
    operations: [
      {
        title: 'Payout',
        summary: 'Pays money to an IBAN. The outcome comes by callback.',
        allows: enabled('PAYOUT'),
        table: payoutTable(banks),
        outcomes: PAYOUT_OUTCOMES,
      },
    ],
  };
}

const payoutQueries = {
  contentTypes: JSON_ONLY,
  family: 'payout',
  echoed: ['merchant_account'],
  takesKey: false,
} as const;

export const payoutCheckEndpoint: Endpoint<Subject> = {
  ...payoutQueries,
  path: '/api/mp/transaction',
  summary: 'CHECK of a payout',
  metricName: 'PAYOUT_CHECK',
  operations: [
    {
      title: 'PayoutCheck',
      summary: 'Returns the status of a payout.',
      transactionType: 'CHECK',
      allows: enabled('CHECK'),
      table: PAYOUT_CHECK_TABLE,
      outcomes: PAYOUT_CHECK_OUTCOMES,
    },
  ],
};

const payoutQueryEndpoint = (path: string, summary: string, title: string): Endpoint<PayoutQuery> => ({
  ...payoutQueries,
  path,
  summary,
  metricName: 'PAYOUT_QUERY',
  // Without a transaction type there is nothing to enable: an account can always see its payouts.
  operations: [{ title, summary, table: PAYOUT_QUERY_TABLE, outcomes: PAYOUT_QUERY_OUTCOMES }],
});

/** All of them, by a name for the handlers. */
export function merchantEndpoints(banks: BankAddresses) {
  return {
    cards: cardEndpoint,
    checkout: checkoutEndpoint,
    checkoutExpiry: checkoutExpiryEndpoint,
    callbacks: callbackListEndpoint,
    callbackEvents: callbackEventsEndpoint,
    callbackResend: callbackResendEndpoint,
    clock: clockEndpoint,
    ledger: ledgerEndpoint,
    payout: payoutEndpoint(banks),
    payoutCheck: payoutCheckEndpoint,
    payoutQuery: payoutQueryEndpoint('/api/mp/transactions', 'Payouts of a period, with fees', 'PayoutQuery'),
    payoutQueryWithoutFees: payoutQueryEndpoint(
      '/api/mp/transactions/ra',
      'Payouts of a period, without fees',
      'PayoutQueryWithoutFees',
    ),
  };
}

export type MerchantEndpoints = ReturnType<typeof merchantEndpoints>;
