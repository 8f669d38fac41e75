import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { rawFields } from '../domain/raw-fields.fixture';
import type { Incoming } from './admit';
import type { InitiatePorts } from './handle-payout-request';
import { payoutEndpoint } from './endpoints';
import { handlePayoutRequest } from './handle-payout-request';
import type { Insertion, JournalEntry } from './ports';

const FIELDS = {
  api_version: 1,
  merchant_account: 'demo_merchant',
  merchant_password: 'demo_password',
  method: 'init',
  transaction_unique_id: 'p',
  amount: '1',
  currency: 'XTS',
  callback_url: 'https://shop.example/',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann',
  transfer_description: 'd',
};
const INCOMING: Incoming = {
  fields: rawFields(FIELDS),
  sourceIp: '192.0.2.1',
  gone: () => new AbortController().signal,
  endpoint: '/api/mp/payout',
  session: { family: 'payout', sessionId: 's' },
};
const ENDPOINT = payoutEndpoint({ isIban: () => true, isBic: () => true });
const ACCOUNT = {
  merchantAccount: 'demo_merchant',
  state: 'test',
  transactionTypes: ['PAYOUT'],
  payoutRules: [{ kind: 'daily-amount', currency: 'XTS', maxE4: 1_000_000 }],
  limits: [],
  ipAllowlist: [],
  customParameters: [],
  payoutFee: { fixedE4: 0, percentE4: 0 },
};

interface World {
  ports: InitiatePorts;
  entries: JournalEntry[];
  /** References of the commands that the bus accepted. */
  published: string[];
  busFaults: Error[];
  /** Entries that the journal did not accept in time. */
  late: JournalEntry[];
  nowMs: number;
}

/** Recording ports; only those that the tests need. */
function world(more: Partial<InitiatePorts> = {}, insert?: (entry: JournalEntry) => Insertion): World {
  const here: World = {
    entries: [],
    published: [],
    busFaults: [],
    late: [],
    nowMs: 1_999,
    ports: undefined as unknown as InitiatePorts,
  };
  let bytes = 0;
  const ports: Partial<InitiatePorts> = {
    journal: {
      insert: async (entry: JournalEntry) => {
        here.entries.push(entry);
        return insert?.(entry) ?? 'inserted';
      },
      confirm: async () => true,
    } as unknown as InitiatePorts['journal'],
    sandbox: { refusal: () => undefined, count: () => undefined },
    late: { add: ({ entry }) => void here.late.push(entry) },
    bus: {
      available: () => true,
      async publish(command) {
        const fault = here.busFaults.shift();
        if (fault !== undefined) throw fault;
        here.published.push(command.data.reference);
      },
    },
    credentials: { verify: async () => ({ kind: 'ok', account: ACCOUNT }) } as unknown as InitiatePorts['credentials'],
    refuseLogin: () => undefined,
    requestSlots: { take: async () => ({ release: () => undefined }) },
    rateLimiter: { take: () => ({ allowed: true }) } as unknown as InitiatePorts['rateLimiter'],
    bankAddresses: { isIban: () => true, isBic: () => true },
    receiverTokens: () => ({ token: '3b0e9c1e-55a1-8c3f-9f7a-0123456789ab', otherTokens: [] }),
    isDiskFull: () => false,
    databaseAvailable: () => true,
    now: () => here.nowMs,
    randomBytes: (size) => new Uint8Array(size).fill((bytes += 1)),
    replyTimeoutMs: 30_000,
    sandboxReturns: 'any',
    logger: silentLogger,
    ...more,
  };
  here.ports = ports as InitiatePorts;
  return here;
}
const init = (here: World) => handlePayoutRequest(here.ports, INCOMING, ENDPOINT);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a bus failure does not fail a payout: its command is published again', async () => {
  const here = world();
  here.busFaults = [new RetryableError('away'), new RetryableError('away')];
  const { httpStatus, body } = await init(here);
  expect([httpStatus, body['status'], body.code]).toEqual([200, 'pending', 0]);
  expect(here.published).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(here.published).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(here.published).toEqual([body['reference']]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(here.published).toHaveLength(1);
});

test('nor does a bus that stays down: the sweeper does the rest', async () => {
  const here = world();
  here.busFaults = Array.from({ length: 100 }, () => new RetryableError('away'));
  expect((await init(here)).body['status']).toBe('pending');
  for (let seconds = 0; seconds < 40; seconds += 1) {
    here.nowMs += 1_000;
    await jest.advanceTimersByTimeAsync(1_000);
  }
  expect(jest.getTimerCount()).toBe(0);
  expect(here.busFaults).toHaveLength(70);
});

test('nor does a bus that rejects it permanently', async () => {
  const other = world();
  other.busFaults = [new Error('too large')];
  expect((await init(other)).body['status']).toBe('pending');
  await jest.advanceTimersByTimeAsync(0);
  expect(jest.getTimerCount()).toBe(0);
});

test.each([
  [undefined, false],
  [false, false],
  [true, true],
])('an account with payoutInstant %s pays instantly: %s', async (payoutInstant, instant) => {
  const account = { ...ACCOUNT, ...(payoutInstant === undefined ? {} : { payoutInstant }) };
  const credentials = { verify: async () => ({ kind: 'ok', account }) } as unknown as InitiatePorts['credentials'];
  const here = world({ credentials });
  await init(here);
  expect(here.entries[0]?.command?.data).toMatchObject({ instant });
});

test('the entry, with its command, is inserted before the command is published', async () => {
  const here = world({}, ({ command }) => {
    expect(command).toMatchObject({ type: 'InitiatePayout', data: { amountE4: 10_000 } });
    expect(here.published).toEqual([]);
    return 'inserted';
  });
  await init(here);
  expect(here.entries).toMatchObject([{ space: 'payout', acceptedAt: 1_999, deadline: 31_999 }]);
});

test('when inserts fail until the deadline the outcome is unknown: neither pending nor free to resend', async () => {
  const here = world({ replyTimeoutMs: 0 }, () => {
    throw new RetryableError('connection lost');
  });
  const { httpStatus, body } = await init(here);
  expect(httpStatus).toBe(200);
  expect(body).toEqual({
    api_version: 1,
    session_id: 's',
    reference: here.entries[0]?.reference,
    timestamp: 1,
    status: 'error',
    code: 11,
    message: 'Internal timeout',
  });
  expect(here.published).toEqual([]);
  // The merchant may have sent another one by then, so this one must never be executed.
  const [late] = here.late;
  expect(late).toMatchObject({ reference: body['reference'], transactionUniqueId: 'p', abandoned: true });
  expect(late).not.toHaveProperty('command');
  expect(late).not.toHaveProperty('unconfirmed');
});

test.each<[string, Partial<InitiatePorts>]>([
  ['the database', { databaseAvailable: () => false }],
  ['the bus', { bus: { available: () => false, publish: async () => {} } }],
  [
    'the accounts',
    {
      credentials: {
        verify: async () => {
          throw new RetryableError('away');
        },
      },
    },
  ],
])('without %s nothing happens', async (_, away) => {
  const here = world(away);
  const { httpStatus, body, retryAfterSeconds } = await init(here);
  expect([httpStatus, body['status'], body.code, retryAfterSeconds]).toEqual([503, 'error', 10, 1]);
  expect(here.entries).toEqual([]);
});

test('a reference that is in use is replaced by another', async () => {
  const here = world({}, () => (here.entries.length === 1 ? 'reference-taken' : 'inserted'));
  const { body } = await init(here);
  expect(here.entries).toHaveLength(2);
  expect(here.entries[0]?.reference).not.toBe(here.entries[1]?.reference);
  expect(body['reference']).toBe(here.entries[1]?.reference);
});

test('a command names the receiver under all keys', async () => {
  const commandOf = async (otherTokens: readonly string[]) => {
    const here = world({ receiverTokens: () => ({ token: 'active', otherTokens }) });
    await init(here);
    return here.entries[0]?.command?.data;
  };
  expect(await commandOf(['older'])).toMatchObject({ token: 'active', otherTokens: ['older'] });
  expect(await commandOf([])).not.toHaveProperty('otherTokens');
});
