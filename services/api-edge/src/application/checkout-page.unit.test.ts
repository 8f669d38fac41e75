import type { Account } from '@gateway/accounts';
import type { OperationOutcome } from '@gateway/contracts';
import { RetryableError } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import { rawFields } from '../domain/raw-fields.fixture';
import { PAGE_KNOWN_MS, showCheckout, submitCard } from './checkout-page';
import type { CheckoutPorts } from './checkout-ports';
import { closeCheckout } from './handle-checkout-expiry';
import { createPaymentTurns } from './payment-turns';
import type { Insertion, OperationEntry, OpenCheckout } from './ports';
import { createCheckoutSweeper, SWEEP_AFTER_EXPIRY_MS, sweepCheckout } from './sweep-checkouts';

/** Shorter than the pause before a repetition: the clock of these tests does not move. */
const REPLY_TIMEOUT_MS = 200;
const NOW = 1_000_000;
const CHECKOUT: OpenCheckout = {
  id: 'AAAAAAAAAAAAAAAAAAAAAA',
  merchantAccount: 'demo_merchant',
  paymentId: 'ABCDEFGHIJKLMNOP',
  request: {
    transactionType: 'SALE',
    transactionUniqueId: 'order-00000001',
    amountE4: 100_000,
    currency: 'XTS',
    customer: { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email: 'ann@example.com', ip: '192.0.2.1' },
    notes: {},
    redirectUrl: 'https://shop.example/done',
  },
  acceptedAt: NOW,
  expiresAt: NOW + 1_800_000,
  state: 'open',
};
/** An attempt that was submitted at the last moment is in the journal by then. */
const ATTEMPT_MAX_MS = 10_000;
const FIRST_LOOK = CHECKOUT.expiresAt + SWEEP_AFTER_EXPIRY_MS;
const LAST_LOOK = FIRST_LOOK + ATTEMPT_MAX_MS;
const PAGE = { kind: 'see-other', location: `/checkout/${CHECKOUT.id}` };
const FORM = {
  fields: rawFields({
    attempt: '1',
    card_number: '4111 1111 1111 1111',
    card_exp: '09 / 30',
    cvv: '123',
    card_holder: 'Ann Lee',
  }),
  browserIp: '198.51.100.9',
};

interface World {
  ports: CheckoutPorts;
  now: number;
  entries: OperationEntry[];
  outcomes: Map<string, OperationOutcome>;
  /** The actions, in order. */
  done: string[];
  insert: (entry: OperationEntry) => Insertion;
  ownerAway: boolean;
  databaseAway: boolean;
  vaultAway: boolean;
}

function outcomeOf(entry: OperationEntry, more: Partial<OperationOutcome> = {}): OperationOutcome {
  const { paymentId, reference, merchantAccount, transactionUniqueId, acceptedAt } = entry;
  return {
    ...{ paymentId, reference, merchantAccount, transactionUniqueId, timestamp: acceptedAt },
    ...{ transactionType: 'SALE', status: 'success', code: 0, message: '', authcode: null },
    ...more,
  };
}

/** Recording ports; only those that the tests need. */
function world(): World {
  const here: World = {
    now: NOW,
    entries: [],
    outcomes: new Map(),
    done: [],
    insert: (entry) => {
      here.entries.push(entry);
      return 'inserted';
    },
    ownerAway: false,
    databaseAway: false,
    vaultAway: false,
    ports: undefined as unknown as CheckoutPorts,
  };
  let bytes = 0;
  const ports: Partial<CheckoutPorts> = {
    checkouts: {
      insert: async () => {},
      find: async (id) => (id === CHECKOUT.id ? CHECKOUT : undefined),
      accountsWithExpired: async () => [],
      claimExpired: async () => undefined,
      close: async () => void here.done.push('close page'),
      sweepAgain: async (_id, sweepAt) => void here.done.push(sweepAt === LAST_LOOK ? 'again' : 'at another time'),
      end: async (_id, removeAt) => void here.done.push(`end ${removeAt - here.now}`),
      behind: async () => [],
      follow: async () => true,
    },
    journal: {
      insertAgain: async (entry: OperationEntry) => {
        here.done.push(`take ${entry.attempt}`);
        return here.insert(entry);
      },
      insert: async (entry: OperationEntry) => {
        here.done.push(`insert ${entry.attempt}`);
        return here.insert(entry);
      },
      findByPayment: async () => here.entries,
    } as unknown as CheckoutPorts['journal'],
    queries: {
      payment: async () => [],
      outcome: async (_account, reference) => {
        if (here.ownerAway) throw new RetryableError('away');
        return here.outcomes.get(reference);
      },
    },
    accounts: { find: async () => ({ state: 'test' }) as Account },
    vault: {
      putCard: async () => {
        if (here.vaultAway) throw new RetryableError('away');
        here.done.push('card');
        return { token: '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab' };
      },
      requireCvvKey: async () => undefined,
      putCvv: async () => void here.done.push('cvv'),
      dropCvv: async () => void here.done.push('drop cvv'),
    },
    bus: {
      available: () => true,
      publish: async ({ type }) => void here.done.push(type),
      endCheckout: async ({ paymentId }) => void here.done.push(`told ${paymentId}`),
      announceOutcome: async () => undefined,
    },
    sandbox: { refusal: () => undefined, count: () => undefined },
    late: { add: ({ entry: { reference } }) => void here.done.push(`late ${reference}`) },
    pending: {
      wait: async (_account, reference) => {
        here.done.push('wait');
        return here.outcomes.get(reference);
      },
    } as CheckoutPorts['pending'],
    turns: createPaymentTurns(),
    closer: { close: () => void here.done.push('close') } as unknown as CheckoutPorts['closer'],
    isDiskFull: () => false,
    databaseAvailable: () => !here.databaseAway,
    takePageSlot: async () => ({ release: () => undefined }),
    accountIsOpen: async () => true,
    merchant: async (name) => ({ name, logo: undefined }),
    now: () => here.now,
    randomBytes: (size) => new Uint8Array(size).fill((bytes += 1)),
    replyTimeoutMs: REPLY_TIMEOUT_MS,
    sandboxReturns: 'any',
    attemptMaxMs: ATTEMPT_MAX_MS,
    publicBaseUrl: 'https://pay.example',
    logger: silentLogger,
  };
  here.ports = ports as CheckoutPorts;
  return here;
}

function attempted(here: World, n: number, more?: Partial<OperationOutcome>): OperationEntry {
  const entry: OperationEntry = {
    reference: `ABCDEFGHIJKLMNOP000${n}`,
    paymentId: CHECKOUT.paymentId,
    merchantAccount: CHECKOUT.merchantAccount,
    space: 'card',
    transactionUniqueId: CHECKOUT.request.transactionUniqueId,
    operationType: 'SALE',
    attempt: n,
    acceptedAt: n,
    deadline: n,
  };
  here.entries.push(entry);
  if (more !== undefined) here.outcomes.set(entry.reference, outcomeOf(entry, more));
  return entry;
}

test('an attempt goes to the vault, then to the journal, then to the bus', async () => {
  const here = world();
  here.insert = (entry) => {
    here.entries.push(entry);
    here.outcomes.set(entry.reference, outcomeOf(entry));
    return 'inserted';
  };
  const answer = await submitCard(here.ports, CHECKOUT.id, FORM);
  expect(here.done).toEqual(['cvv', 'card', 'insert 1', 'wait', 'ChargeCard', 'close']);
  const [entry] = here.entries;
  expect(entry?.deadline).toBe(NOW + REPLY_TIMEOUT_MS);
  expect(answer).toMatchObject({ kind: 'see-other', location: expect.stringContaining(entry?.reference ?? '-') });
});

test('an attempt without an answer stays open in the journal', async () => {
  const here = world();
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
  expect(here.done).not.toContain('close');
});

test('nothing is accepted while the database or the vault is down', async () => {
  for (const away of ['databaseAway', 'vaultAway'] as const) {
    const here = world();
    here[away] = true;
    expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject({ kind: 'unavailable' });
    expect(here.entries).toEqual([]);
    expect(here.done).not.toContain('ChargeCard');
  }
});

test('a page is unknown a day after it was opened, whatever has become of it', async () => {
  const here = world();
  here.now = CHECKOUT.acceptedAt + PAGE_KNOWN_MS - 1;
  expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({ kind: 'expired' });
  here.now += 1;
  expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toEqual({ kind: 'not-found' });
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toEqual({ kind: 'not-found' });
});

test('nothing is accepted whose checks last beyond the end of the page', async () => {
  const here = world();
  here.ports.accountIsOpen = async () => {
    here.now = CHECKOUT.expiresAt;
    return true;
  };
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
  expect(here.done).toEqual([]);
});

test('after a journal insert, no answer claims that nothing happened', async () => {
  const here = world();
  here.insert = () => {
    throw new RetryableError('away');
  };
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
  expect(here.done).not.toContain('ChargeCard');
});

test('a second submission leaves no CVV and ends where the first one does', async () => {
  const here = world();
  let first: OperationEntry | undefined;
  here.insert = () => {
    first = attempted(here, 1);
    return 'id-used';
  };
  const wait = here.ports.pending.wait.bind(undefined);
  here.ports.pending.wait = async (account, reference) => {
    here.outcomes.set(reference, outcomeOf(first as OperationEntry));
    return wait(account, reference);
  };
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject({
    kind: 'see-other',
    location: `https://shop.example/done?reference=${first?.reference}&transaction_unique_id=order-00000001`,
  });
  expect(here.done).toEqual(['cvv', 'card', 'insert 1', 'drop cvv', 'wait']);
});

test('a reference that is in use is replaced by another', async () => {
  const here = world();
  const references: string[] = [];
  here.insert = ({ reference }) => (references.push(reference) < 3 ? 'reference-taken' : 'inserted');
  await submitCard(here.ports, CHECKOUT.id, FORM);
  expect(new Set(references).size).toBe(3);
});

test('without an answer from the owner the form is not shown', async () => {
  const here = world();
  attempted(here, 1, { status: 'decline', code: 3101 });
  expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({ kind: 'form' });
  here.ownerAway = true;
  expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({ kind: 'waiting' });
  expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
  expect(here.entries).toHaveLength(1);
});

test('attempts are sorted by their number', async () => {
  const here = world();
  attempted(here, 2, { status: 'error', code: 11 });
  attempted(here, 1, { status: 'decline', code: 3101 });
  expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({ situation: { attempt: 3 } });
});

describe('a merchant who closes the page', () => {
  const DECLINED = { status: 'decline', code: 3101 } as const;

  test('takes the number of the next attempt', async () => {
    for (const attempts of [0, 1, 2]) {
      const here = world();
      for (let n = 1; n <= attempts; n += 1) attempted(here, n, DECLINED);
      const { kind } = await closeCheckout(here.ports, CHECKOUT);
      expect(kind).toBe(attempts === 0 ? 'expired' : 'finished');
      expect(here.done).toEqual(['close page', `take ${attempts + 1}`]);
      // The number is no attempt.
      expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({
        situation: { attempt: attempts + 1 },
      });
    }
  });

  test('learns of a card that came at the same time', async () => {
    const here = world();
    here.insert = () => {
      attempted(here, 1);
      return 'id-used';
    };
    expect(await closeCheckout(here.ports, CHECKOUT)).toMatchObject({ kind: 'waiting' });
  });

  test.each<[string, Partial<OperationOutcome>[], string[], object]>([
    ['three failed attempts', [DECLINED, DECLINED, DECLINED], ['close page'], { kind: 'finished', succeeded: false }],
    ['a success', [{ status: 'success' }], ['close page'], { kind: 'finished', succeeded: true }],
    ['an attempt under way', [{ status: 'pending' }], ['close page', 'take 2'], { kind: 'waiting' }],
  ])('after %s', async (_name, outcomes, done, expected) => {
    const here = world();
    for (const [index, outcome] of outcomes.entries()) attempted(here, index + 1, outcome);
    expect(await closeCheckout(here.ports, CHECKOUT)).toMatchObject(expected);
    expect(here.done).toEqual(done);
  });

  test('gets no answer that nobody can be charged while the journal is away', async () => {
    const here = world();
    here.insert = () => {
      throw new RetryableError('away');
    };
    await expect(closeCheckout(here.ports, CHECKOUT)).rejects.toThrow('away');
  });

  test('stops a submission that has read the open page: it is not charged', async () => {
    const here = world();
    const numbers = new Set<number | undefined>();
    here.insert = (entry) => {
      if (numbers.has(entry.attempt)) return 'id-used';
      numbers.add(entry.attempt);
      here.entries.push(entry);
      return 'inserted';
    };
    here.ports.accountIsOpen = async () => {
      expect(await closeCheckout(here.ports, CHECKOUT)).toEqual({ kind: 'expired' });
      return true;
    };
    expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
    expect(here.done).not.toContain('ChargeCard');
    expect(here.done).toContain('drop cvv');
  });

  test('closes it also for a replica whose clock is behind', async () => {
    const here = world();
    here.ports.checkouts.find = async () => ({ ...CHECKOUT, closedAt: NOW + 1_000, expiresAt: NOW + 1_000 });
    expect(await showCheckout(here.ports, CHECKOUT.id, undefined)).toMatchObject({ kind: 'expired' });
    expect(await submitCard(here.ports, CHECKOUT.id, FORM)).toMatchObject(PAGE);
    expect(here.done).toEqual([]);
  });
});

describe('the sweeper', () => {
  const TOLD = 'told ABCDEFGHIJKLMNOP';
  const END = 'end 86400000';
  const DECLINED = { status: 'decline', code: 3101 } as const;

  test.each<[string, (Partial<OperationOutcome> | undefined)[], string[], string[]]>([
    ['an unused page ends when no attempt can come', [], ['again'], [END]],
    ['one that was paid ends', [{ status: 'success' }], [END], [END]],
    ['the owner is notified of an unsuccessful one at once, and at its end', [DECLINED], [TOLD, 'again'], [TOLD, END]],
    ['one without attempts left ends', [DECLINED, DECLINED, DECLINED], [TOLD, END], [TOLD, END]],
    ['one whose outcome is unknown stays', [{ status: 'pending', code: 3109 }], [], []],
    ['one whose attempt is on its way stays', [DECLINED, undefined], [], []],
  ])('%s', async (_name, outcomes, first, last) => {
    for (const [now, done] of [
      [FIRST_LOOK, first],
      [LAST_LOOK - 1, first],
      [LAST_LOOK, last],
    ] as const) {
      const here = world();
      here.now = now;
      for (const [index, outcome] of outcomes.entries()) attempted(here, index + 1, outcome);
      await sweepCheckout(here.ports, CHECKOUT);
      expect(here.done).toEqual(done);
    }
  });

  test.each([
    ['the only one', 1],
    ['another one', 2],
  ])('notifies the owner after an attempt of the last moment, %s, that a slow database takes up late', async (_, n) => {
    const here = world();
    here.now = FIRST_LOOK;
    if (n === 2) attempted(here, 1, DECLINED);
    await sweepCheckout(here.ports, CHECKOUT);
    expect(here.done).not.toContain(END);
    attempted(here, n, DECLINED);
    Object.assign(here, { now: LAST_LOOK, done: [] });
    await sweepCheckout(here.ports, CHECKOUT);
    expect(here.done).toEqual([TOLD, END]);
  });

  test('keeps a page whose owner could not be notified', async () => {
    const here = world();
    here.now = LAST_LOOK;
    attempted(here, 1, DECLINED);
    here.ports.bus.endCheckout = async () => {
      throw new RetryableError('away');
    };
    await expect(sweepCheckout(here.ports, CHECKOUT)).rejects.toThrow('away');
    expect(here.done).toEqual([]);
  });

  test('goes on until nothing is due, and a page that fails does not stop it', async () => {
    const here = world();
    here.now = LAST_LOOK;
    const due = Array.from({ length: 500 }, (_, index) => ({ ...CHECKOUT, id: String(index) }));
    const ended: string[] = [];
    Object.assign(here.ports.checkouts, {
      accountsWithExpired: async (after: string) =>
        due.length > 0 && after < CHECKOUT.merchantAccount ? [CHECKOUT.merchantAccount] : [],
      claimExpired: async () => due.shift(),
      async end(id: string) {
        if (id === '7') throw new RetryableError('away');
        ended.push(id);
      },
    });
    const sweeper = createCheckoutSweeper(here.ports, 60_000);
    sweeper.start();
    await until('all have ended', () => ended.length === 499);
    expect(await sweeper.stop(1_000)).toBe(0);
    expect(ended).not.toContain('7');
  });
});
