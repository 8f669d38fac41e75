import { createHandle } from '@gateway/mongo';
import { memoryStore } from '@gateway/testing';
import type { AcquirerAnswer } from '../domain/decide';
import type { Payment } from '../domain/payment';
import { evolve, newPayment } from '../domain/payment';
import {
  after,
  approved,
  FACTS,
  HOLD_SECONDS,
  NOW,
  PAYMENT_ID,
  PAYMENTS,
  purchaseCommand,
  ref,
  ROUTE,
} from '../domain/payments.fixture';
import { announce } from './announcements';
import { expireAuthorization } from './expire-authorization';
import type { AcquirerConnector, Ports, StoredPayment } from './ports';

const END = NOW + HOLD_SECONDS * 1000;
const TIMEOUT_MS = 5_000;
const PLACES = 20;
const APPROVED: AcquirerAnswer = { kind: 'approved', authcode: null, bank: {} };
const ASK = { paymentId: PAYMENT_ID, merchantAccount: 'merchant', reference: ref('AUTH'), expiresAt: END };

/** One payment in a store with conditional writes, and an acquirer that saves the stored payment when called. */
function world(payment: Payment, answer: () => Promise<AcquirerAnswer> = () => Promise.resolve(APPROVED)) {
  const first: StoredPayment = { _id: PAYMENT_ID, ...payment, route: ROUTE, version: 1, eventSeq: 1, outbox: [] };
  const store = memoryStore(first);
  const stored = (): StoredPayment => store.documents.get(PAYMENT_ID) ?? first;
  const calls: { reference: string; currency: string; onRecord: StoredPayment }[] = [];
  const errors: string[] = [];
  const begun: Promise<void>[] = [];
  let published = 0;
  let places = PLACES;
  const connector = {
    name: 'simulator',
    longestCallMs: TIMEOUT_MS,
    callMs: TIMEOUT_MS,
    placeForExpiry: () => {
      places -= 1;
      return { leave: () => (places += 1) };
    },
    operate: (_operation, { reference, currency }) => {
      calls.push({ reference, currency, onRecord: stored() });
      return answer();
    },
  } as Partial<AcquirerConnector> as AcquirerConnector;
  const ports = {
    recovery: { current: () => undefined, mayHaveBeenHandled: () => false, notice: () => Promise.resolve() },
    handle: createHandle({
      store,
      evolve,
      announce,
      publish: () => (published += 1),
      now: () => END,
      newId: () => 'id',
    }),
    connector: () => connector,
    calls: { begin: (work: () => Promise<void>) => (begun.push(work()), Promise.resolve()) },
    now: () => END,
    holdSeconds: HOLD_SECONDS,
    logger: { warn: () => undefined, error: (message: string) => errors.push(message) },
  } as unknown as Ports;
  const expire = async (ask = ASK): Promise<void> => {
    await expireAuthorization(ports, ask, 'cause');
    await Promise.all(begun);
  };
  return {
    ports,
    expire,
    calls,
    errors,
    announced: () => stored().outbox,
    payment: stored,
    published: () => published,
    places: () => places,
  };
}

test('stores the intent, with the time from which the resolver may act, before it calls the bank', async () => {
  const { expire, calls, payment } = world(PAYMENTS.authorized);
  await expire();
  expect(calls).toMatchObject([{ reference: `${PAYMENT_ID}ZZ01`, currency: 'XTS' }]);
  expect(calls[0]?.onRecord).toMatchObject({ state: { kind: 'voiding' }, pending: { kind: 'void' } });
  expect(calls[0]?.onRecord.resolveAt).toBeGreaterThanOrEqual(END + TIMEOUT_MS);
  expect(payment()).toMatchObject({ state: { kind: 'voided' } });
  expect(payment()).not.toHaveProperty('resolveAt');
});

test('announces the outcome', async () => {
  const { expire, announced, published } = world(PAYMENTS.authorized);
  await expire();
  expect(announced()).toMatchObject([
    { type: 'AuthorizationVoided', causationId: 'cause', data: { baseReference: ref('AUTH'), status: 'success' } },
  ]);
  expect(published()).toBe(1);
});

describe('an AUTH that wants callbacks about its hold', () => {
  const callbackUrl = 'https://shop.example/callback';
  const wanting = approved(
    after(newPayment('merchant'), purchaseCommand('AuthorizeCard', { callbackUrl }), {
      ...FACTS,
      holdCallbackHours: 2,
    }),
    'AUTH',
  );
  const common = {
    reference: ref('AUTH'),
    transactionUniqueId: wanting.operations[0]?.transactionUniqueId,
    callbackUrl,
    holdEndsAt: END,
  };

  test('announces each once, and then the VOID', async () => {
    const { expire, announced, calls } = world(wanting);
    await Promise.all(Array.from({ length: 5 }, () => expire()));
    expect(announced()).toMatchObject([
      {
        type: 'AuthorizationExpiring',
        data: {
          ...common,
          ...{ event: 'authorization_expiring', callbackSequence: 1 },
          ...{ status: 'success', code: 0, message: 'Authorization expires soon' },
        },
      },
      {
        type: 'AuthorizationExpired',
        data: {
          ...common,
          ...{ event: 'authorization_expired', callbackSequence: 2 },
          ...{ status: 'error', code: 3007, message: 'Authorization expired' },
        },
      },
      { type: 'AuthorizationVoided', data: { baseReference: ref('AUTH') } },
    ]);
    expect(announced()[2]?.data).not.toHaveProperty('callbackUrl');
    expect(calls).toHaveLength(1);
  });

  test('announces them without a free place for the VOID, too', async () => {
    const { ports, expire, announced, calls, payment } = world(wanting);
    ports.connector = () => ({ placeForExpiry: () => undefined }) as unknown as AcquirerConnector;
    await expire();
    expect(announced().map(({ type }) => type)).toEqual(['AuthorizationExpiring', 'AuthorizationExpired']);
    expect(calls).toEqual([]);
    expect(payment().state.kind).toBe('authorized');
  });

  test('before the end, it calls no bank and takes no place', async () => {
    const { ports, expire, announced, calls, places } = world(wanting);
    ports.now = () => END - 1;
    await expire();
    expect(announced().map(({ type }) => type)).toEqual(['AuthorizationExpiring']);
    expect(calls).toEqual([]);
    expect(places()).toBe(PLACES);
  });
});

test('concurrent and repeated requests call the bank once', async () => {
  const { expire, calls } = world(PAYMENTS.authorized);
  await Promise.all(Array.from({ length: 10 }, () => expire()));
  await expire();
  expect(calls).toHaveLength(1);
});

test('leaves a call whose process died to the resolver: a repeated request does not call the bank', async () => {
  const died = world(PAYMENTS.authorized, () => new Promise(() => undefined));
  void expireAuthorization(died.ports, ASK, 'cause');
  await new Promise(setImmediate);
  expect(died.calls).toHaveLength(1);
  const { expire, calls } = world(died.payment());
  await expire();
  expect(calls).toEqual([]);
});

test('a time-out leaves it pending for the resolver', async () => {
  const { expire, payment } = world(PAYMENTS.authorized, () => Promise.resolve({ kind: 'unknown', code: 3109 }));
  await expire();
  expect(payment()).toMatchObject({ state: { kind: 'voiding' }, resolveAt: expect.any(Number), inquiries: 0 });
});

test.each([
  ['a payment that is not there', { ...ASK, paymentId: 'PAYMENT000000002' }],
  ['another merchant’s', { ...ASK, merchantAccount: 'another' }],
  ['another operation', { ...ASK, reference: ref('OTHR') }],
])('%s is left alone', async (_what, ask) => {
  const { expire, calls, payment } = world(PAYMENTS.authorized);
  await expire(ask);
  expect(calls).toEqual([]);
  expect(payment().version).toBe(1);
});

test('a payment without room alerts an operator', async () => {
  const [operation] = PAYMENTS.authorized.operations;
  if (operation === undefined) throw new Error('no operation');
  const full = Array.from({ length: 99 }, (_, index) => ({ ...operation, reference: ref(String(index)) }));
  const { expire, calls, errors } = world({ ...PAYMENTS.authorized, operations: [operation, ...full] });
  await expire();
  expect(calls).toEqual([]);
  expect(errors).toHaveLength(1);
});

test('does nothing without a free place', async () => {
  const { ports, expire, calls, payment } = world(PAYMENTS.authorized);
  ports.connector = () => ({ placeForExpiry: () => undefined }) as unknown as AcquirerConnector;
  await expire();
  expect(calls).toEqual([]);
  expect(payment().version).toBe(1);
});

test.each(['authorized', 'voided'] as const)('a request for a payment that is %s keeps no place', async (state) => {
  const { expire, places } = world(PAYMENTS[state]);
  await Promise.all(Array.from({ length: 10 }, () => expire()));
  expect(places()).toBe(PLACES);
});
