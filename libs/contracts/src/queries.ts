import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { CallbackEventPage, CallbackPage, CallbackView } from './callback-views';
import { GivenReference, MerchantAccount, Reference } from './fields';
import type { Validator } from './message';
import { validatorOf } from './message';
import { PayoutOutcome } from './payout-messages';
import { OperationOutcome } from './replies';

/** A service that asks others. */
type Asker = 'api-edge' | 'callback-dispatcher';

/** What services ask the owner of a record over HTTP, answered in JSON. It validates answers. */
export interface QueryDeclaration<Answer = unknown, Path extends string = string> extends Validator {
  /** Name of the service that answers. */
  readonly owner: string;
  /** Default: GET. */
  readonly method?: 'POST';
  /** With its parameters (`:reference`); all others are in the query string. */
  readonly path: Path;
  readonly askers: readonly Asker[];
  readonly description: string;
  readonly parameters: TObject;
  readonly answer: TSchema;
  /** Carries the TypeScript type; has no value. */
  readonly __answer?: Answer;
}

function declareQuery<Path extends string, S extends TSchema>(
  declared: Pick<QueryDeclaration, 'owner' | 'method' | 'askers' | 'description' | 'parameters'> & {
    path: Path;
    answer: S;
  },
): QueryDeclaration<Static<S>, Path> {
  return { ...declared, ...validatorOf(declared.answer, declared.path) };
}

/** Names the merchant; only its records are found. */
const account = MerchantAccount;

const LedgerLine = Type.Object({
  at: Type.String({ description: 'ISO 8601' }),
  operation: Type.Union([Type.String(), Type.Null()]),
  idempotencyKey: Type.String(),
  reference: Type.String(),
  amount: Type.Union([Type.Number(), Type.Null()]),
  currency: Type.Union([Type.String(), Type.Null()]),
  effect: Type.String(),
});
/** A line of the simulator's ledger: what a simulated bank really did. */
export type LedgerLine = Static<typeof LedgerLine>;

/** All queries between services. */
export const queries = {
  operation: declareQuery({
    owner: 'card-processing',
    path: '/operations/:reference',
    askers: ['api-edge', 'callback-dispatcher'],
    description: 'One operation. 404 if there is none.',
    parameters: Type.Object({ reference: GivenReference, account }),
    answer: OperationOutcome,
  }),
  operationsOfPayment: declareQuery({
    owner: 'card-processing',
    path: '/operations/:reference/payment',
    askers: ['api-edge'],
    description: 'All operations of the payment that an operation belongs to, oldest first.',
    parameters: Type.Object({ reference: GivenReference, account }),
    answer: Type.Array(OperationOutcome),
  }),
  payout: declareQuery({
    owner: 'payout',
    path: '/payouts/:reference',
    askers: ['api-edge', 'callback-dispatcher'],
    description: 'One payout. 404 if there is none.',
    parameters: Type.Object({ reference: GivenReference, account }),
    answer: PayoutOutcome,
  }),
  payouts: declareQuery({
    owner: 'payout',
    path: '/payouts',
    askers: ['api-edge'],
    description: 'One page of the payouts of a window, by time, then reference. 400 for an invalid query.',
    parameters: Type.Object({
      account,
      from: Type.Integer({ minimum: 0, description: 'Unix seconds, inclusive, as is `to`' }),
      to: Type.Integer({ minimum: 0 }),
      order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
      page: Type.Optional(Type.Integer({ minimum: 1 })),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    answer: Type.Object({ payouts: Type.Array(PayoutOutcome) }),
  }),
  payoutsOnRecord: declareQuery({
    owner: 'payout',
    path: '/payouts/on-record',
    askers: ['api-edge'],
    description: 'Those of some references, of any merchant, that are payouts on record.',
    parameters: Type.Object({ reference: Type.String({ description: 'References, separated by commas' }) }),
    answer: Type.Object({ references: Type.Array(Reference) }),
  }),
  callbacks: declareQuery({
    owner: 'callback-dispatcher',
    path: '/callbacks',
    askers: ['api-edge'],
    description:
      'One page of the callbacks of an account, newest first. 404 for a wrong `before`, 400 for an invalid query.',
    parameters: Type.Object({
      account,
      payment: Type.Optional(
        Type.String({ description: 'Only of these payments or payouts: ids, separated by commas' }),
      ),
      from: Type.Optional(Type.Integer({ minimum: 0, description: 'Epoch ms: no older ones' })),
      before: Type.Optional(Type.String({ description: '`next` of the page before' })),
      limit: Type.Integer({ minimum: 1 }),
    }),
    answer: CallbackPage,
  }),
  callbackEvents: declareQuery({
    owner: 'callback-dispatcher',
    path: '/callbacks/events',
    askers: ['api-edge'],
    description:
      'The next entries of the feed of a sandbox account, oldest first; none if neither `after` nor `since` is there. 404 if the feed has no such cursor, 400 for an invalid query.',
    parameters: Type.Object({
      account,
      after: Type.Optional(Type.String({ description: 'A cursor of the feed. It wins over `since`' })),
      since: Type.Optional(Type.Integer({ minimum: 0, description: 'Epoch ms' })),
      limit: Type.Integer({ minimum: 1 }),
    }),
    answer: CallbackEventPage,
  }),
  resendCallback: declareQuery({
    owner: 'callback-dispatcher',
    method: 'POST',
    path: '/callbacks/:id/resend',
    askers: ['api-edge'],
    description: 'Sends a callback again, whatever its state: its schedule begins anew. 404 if there is none.',
    parameters: Type.Object({ id: Type.String(), account }),
    answer: CallbackView,
  }),
  sandboxLedger: declareQuery({
    owner: 'simulator',
    path: '/ledger',
    askers: ['api-edge'],
    description:
      "What the simulated banks did for one operation or payout, oldest first. It knows no accounts: ask the payment's owner first.",
    parameters: Type.Object({ reference: GivenReference }),
    answer: Type.Object({ entries: Type.Array(LedgerLine) }),
  }),
} as const;
