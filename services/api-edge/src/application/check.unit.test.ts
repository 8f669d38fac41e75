import type { OperationOutcome } from '@gateway/contracts';
import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { check } from './check';
import type { CheckPorts } from './check';
import type { OperationEntry } from './ports';

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
  } as unknown as CheckPorts;
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
  } as unknown as CheckPorts;
  const session = { family: 'card', sessionId: 'session' } as const;
  const { body } = await check(ports, session, 'merchant', { by: { reference: AUTH } } as Parameters<typeof check>[3]);
  expect(body).toMatchObject({ status: 'error', code: 10, transactions: [] });
});

describe('the answer about a card-entry page says whether it has ended:', () => {
  const PAGE = { ...entryOf(operation(OTHER, undefined, 0)), checkoutId: 'page', transactionUniqueId: 'order' };
  const CLOSED = { ...PAGE, reference: `${PAYMENT}CLOS`, attempt: 2 };
  const attempts = (statuses: OperationOutcome['status'][]) =>
    statuses.map((status, index) => ({
      ...operation(`${PAYMENT}ATT${index}`, undefined, index),
      ...{ transactionUniqueId: 'order', status },
    }));

  async function statusOf(
    statuses: OperationOutcome['status'][],
    state: 'open' | 'ended' | 'gone',
    entries: OperationEntry[] = [PAGE],
  ) {
    const outcomes = attempts(statuses);
    const journalled = outcomes.map((outcome, index) => ({
      ...entryOf({ ...operation(outcome.reference, undefined, index) }),
      attempt: index + 1,
    }));
    // Whoever reads the attempts first could miss the last one.
    let isPageRead = false;
    const ports = {
      journal: {
        findByUniqueId: async () => PAGE,
        findByPayment: async () => (isPageRead ? [...entries, ...journalled] : entries),
        findByReference: async () => PAGE,
      },
      checkouts: {
        find: async () => {
          isPageRead = true;
          return state === 'gone' ? undefined : { state };
        },
      },
      queries: { payment: async () => outcomes },
      logger: silentLogger,
    } as unknown as CheckPorts;
    const request = { by: { transactionUniqueId: 'order' } } as Parameters<typeof check>[3];
    return (await check(ports, { family: 'card', sessionId: 'session' }, 'merchant', request)).checkoutStatus;
  }

  test.each<[OperationOutcome['status'][], 'open' | 'ended' | 'gone', string]>([
    [[], 'open', 'open'],
    [['decline'], 'open', 'open'],
    [['decline', 'error'], 'open', 'open'],
    [['pending'], 'open', 'open'],
    [['pending'], 'ended', 'open'],
    [['decline', 'success'], 'open', 'ended'],
    [['decline', 'decline', 'decline'], 'open', 'ended'],
    [['decline', 'decline', 'pending'], 'open', 'open'],
    [['decline'], 'ended', 'ended'],
    [['decline'], 'gone', 'ended'],
    [[], 'ended', 'ended'],
  ])('after %j on a page that is %s: %s', async (statuses, state, expected) => {
    expect(await statusOf(statuses, state)).toBe(expected);
  });

  test('a page that its merchant has closed has ended with its last attempt', async () => {
    expect(await statusOf(['decline'], 'open', [PAGE, CLOSED])).toBe('ended');
    expect(await statusOf(['pending'], 'open', [PAGE, CLOSED])).toBe('open');
  });

  test('answers about other operations say nothing', async () => {
    const sale = operation(OTHER, undefined, 0);
    const ports = {
      journal: { findByPayment: async () => [entryOf(sale)], findByReference: async () => undefined },
      queries: { payment: async () => [sale] },
      logger: silentLogger,
    } as unknown as CheckPorts;
    const request = { by: { reference: OTHER } } as Parameters<typeof check>[3];
    expect(await check(ports, { family: 'card', sessionId: 's' }, 'merchant', request)).not.toHaveProperty(
      'checkoutStatus',
    );
  });
});
