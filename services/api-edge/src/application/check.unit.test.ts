import type { OperationOutcome } from '@gateway/contracts';
import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { check } from './check';
import type { OperationEntry, Ports } from './ports';

const PAYMENT = 'ABCDEFGHIJKLMNOP';
const AUTH = `${PAYMENT}AUTH`;
const SETTLE = `${PAYMENT}SETT`;
const REFUND = `${PAYMENT}REFU`;
const OTHER = `${PAYMENT}OTHR`;

/** `timestamp`: from the clock of the accepting replica. */
function operation(reference: string, baseReference: string | undefined, timestamp: number) {
  return {
    ...{ paymentId: PAYMENT, reference, ...(baseReference === undefined ? {} : { baseReference }) },
    ...{ merchantAccount: 'merchant', transactionUniqueId: `id-${reference}`, transactionType: 'SALE' as const },
    ...{ status: 'success' as const, code: 0, message: '', authcode: null, timestamp },
  } satisfies OperationOutcome;
}

function entryOf({ reference, baseReference, timestamp }: ReturnType<typeof operation>): OperationEntry {
  const accepted = { merchantAccount: 'merchant', acceptedAt: timestamp, deadline: timestamp };
  return {
    ...{ reference, paymentId: PAYMENT, ...(baseReference === undefined ? {} : { baseReference }), ...accepted },
    ...{ space: 'card', transactionUniqueId: `id-${reference}`, operationType: 'SALE' },
    command: { type: 'ChargeCard' } as NonNullable<OperationEntry['command']>,
  };
}

async function referencesFound(
  reference: string,
  payment: () => OperationOutcome[],
  journalled: OperationEntry[] = [],
) {
  const ports = {
    journal: { findByPayment: async () => journalled, findByReference: async () => undefined },
    queries: { payment: async () => payment() },
    logger: silentLogger,
  } as unknown as Ports;
  const session = { family: 'card', sessionId: 'session' } as const;
  const { body } = await check(ports, session, 'merchant', { by: { reference } } as Parameters<typeof check>[3]);
  return (body as unknown as { transactions: { reference: string }[] }).transactions.map((one) => one.reference);
}

const away = (): never => {
  throw new RetryableError('away');
};

describe('follow-ups are listed with their operation, oldest first,', () => {
  test.each([
    ['in the order of their clocks', [1, 2, 3], [AUTH, SETTLE, REFUND]],
    ['also when the clock of the second one was ahead', [1, 3, 2], [AUTH, REFUND, SETTLE]],
    ['also when the clock of the first one was ahead', [3, 2, 1], [AUTH, REFUND, SETTLE]],
  ])('%s', async (_name, [auth = 0, settle = 0, refund = 0], expected) => {
    const operations = [
      operation(AUTH, undefined, auth),
      operation(SETTLE, AUTH, settle),
      operation(REFUND, SETTLE, refund),
      operation(OTHER, undefined, 0),
    ];
    expect(await referencesFound(AUTH, () => operations)).toEqual(expected);
    expect(await referencesFound(SETTLE, () => operations)).toEqual([SETTLE, REFUND]);
    expect(await referencesFound(OTHER, () => operations)).toEqual([OTHER]);
    const journalled = operations.map(entryOf).sort((a, b) => a.acceptedAt - b.acceptedAt);
    expect(await referencesFound(AUTH, () => [], journalled)).toEqual(expected);
  });
});

test('an operation that names itself as its base is listed once', async () => {
  expect(await referencesFound(AUTH, () => [operation(AUTH, AUTH, 1)])).toEqual([AUTH]);
});

test('a request may have its outcome although its entry is still open, so while the owner is silent it is not called pending', async () => {
  const ports = {
    journal: {
      findByPayment: async () => [entryOf(operation(AUTH, undefined, 1))],
      findByReference: async () => undefined,
    },
    queries: { payment: async () => away() },
    logger: silentLogger,
  } as unknown as Ports;
  const session = { family: 'card', sessionId: 'session' } as const;
  const { body } = await check(ports, session, 'merchant', { by: { reference: AUTH } } as Parameters<typeof check>[3]);
  expect(body).toMatchObject({ status: 'error', code: 10, transactions: [] });
});
