import { testServers } from '@gateway/testing';
import type { BankEntry, BankStatementFile } from './camt.fixture';
import { camt, pacs004, SENT } from './camt.fixture';
import type { Inbox, OwnRecords } from './inbox.fixture';
import { emit, openInbox, openOwnRecords } from './inbox.fixture';
import { OTHER_IBAN, OUR_IBAN, pain002 } from './iso20022.fixture';
import type { SettledBy } from '../../../domain/iso20022/booking';

/** Bookings of a bank, from its files to what is told of each payout. */

let own: OwnRecords;
beforeAll(async () => {
  own = await openOwnRecords(testServers().mongoUri);
});
afterAll(() => own.close());
beforeEach(() => own.empty());

const BATCH = '20261126090000-A5A337BD9FDE4525';
const [ONE, TWO, THREE] = ['ABCDEFGHIJ0123456781', 'ABCDEFGHIJ0123456782', 'ABCDEFGHIJ0123456783'] as const;

const debitOf = (endToEndId: string, change: Partial<BankEntry> = {}): BankEntry => ({
  transactions: [{ endToEndId, amount: SENT, bankReference: `B-${endToEndId}` }],
  ...change,
});
const returnOf = (endToEndId: string, reason = 'AC04'): BankEntry => ({
  side: 'CRDT',
  transactions: [{ endToEndId, amount: SENT, bankReference: `R-${endToEndId}`, returned: reason }],
});

async function inboxWith(...files: readonly string[]): Promise<Inbox> {
  return inboxSettledBy('either', ...files);
}

async function inboxSettledBy(settledBy: SettledBy, ...files: readonly string[]): Promise<Inbox> {
  await emit(own.records, BATCH, ONE, TWO, THREE);
  const debtor = { name: 'Gateway Ltd', iban: OUR_IBAN };
  await own.records.members.updateMany({}, { $set: { debtor } });
  const inbox = await openInbox(own.records, own.schemaCheck, undefined, settledBy);
  files.forEach((file, index) => inbox.deliver(`${index}.xml`, file));
  await inbox.round();
  return inbox;
}

const statement = (file: BankStatementFile, ...entries: readonly BankEntry[]) => camt({ ...file, entries });

describe.each(['camt.053', 'camt.054'] as const)('a %s', (message) => {
  const versions = Array.from({ length: 13 }, (_, index) => index + 2);

  test.each(versions)('of version %s settles what it has debited, and returns what came back', async (version) => {
    const entries = [debitOf(ONE), debitOf(TWO), returnOf(TWO)];
    const inbox = await inboxWith(statement({ message, version }, ...entries));
    expect(inbox.files('done')).toEqual(['0.xml']);
    expect(inbox.told.toSorted()).toEqual([`${ONE} settled`, `${TWO} returned`, `${TWO} settled`]);
    expect(inbox.news.find(({ outcome }) => outcome.kind === 'returned')?.outcome).toEqual({
      kind: 'returned',
      reasonCode: 'AC04',
      bank: {
        advice: 'BOOK',
        transactionId: `R-${TWO}`,
        reasonCode: 'AC04',
        reasonDescription: 'sent back',
      },
    });
  });

  test('that tells the same again changes nothing', async () => {
    const first = statement({ message }, debitOf(ONE), returnOf(ONE));
    const again = statement({ message, id: 'S-2' }, debitOf(ONE), returnOf(ONE));
    const inbox = await inboxWith(first, again);
    expect(inbox.files('done')).toEqual(['0.xml', '1.xml']);
    expect(inbox.told).toEqual([`${ONE} settled`, `${ONE} returned`]);
  });
});

test.each([9, 10, 11, 12, 13, 14])('a pacs.004 of version %s returns', async (version) => {
  const inbox = await inboxWith(statement({}, debitOf(ONE)), pacs004(version, [{ endToEndId: ONE, reason: 'MD07' }]));
  expect(inbox.files('done')).toEqual(['0.xml', '1.xml']);
  expect(inbox.told).toEqual([`${ONE} settled`, `${ONE} returned`]);
});

test.each<[string, string, string]>([
  ['names no payment', pacs004(9, [{}]), 'a return of 31.01 EUR without OrgnlEndToEndId'],
  ['returns nothing', pacs004(9, []), 'it names no transaction'],
  ['is empty', pacs004(9, []).replaceAll('PmtRtr', 'Other'), 'it has no message in it'],
])('a pacs.004 that %s is for an operator', async (_name, file, problem) => {
  const inbox = await inboxWith(file);
  expect([inbox.told, inbox.problemsOf('0.xml')]).toEqual([[], [problem]]);
});

test('a batch is booked once, whether the bank tells of each transfer, of the sum, or of both', async () => {
  const each = statement({ message: 'camt.054' }, debitOf(ONE), debitOf(TWO), debitOf(THREE));
  const sum = (bankReference: string): BankEntry => ({
    amount: '93.03 EUR',
    bankReference,
    batch: { paymentId: BATCH, amount: '93.03 EUR' },
  });
  const inbox = await inboxWith(each, statement({}, sum('SUM-1')), statement({ id: 'S-2' }, sum('SUM-2')));
  expect(inbox.told.toSorted()).toEqual([ONE, TWO, THREE].map((reference) => `${reference} settled`));
  expect(inbox.files('done')).toEqual(['0.xml', '1.xml']);
  expect(inbox.problemsOf('2.xml')).toEqual([
    `${BATCH}: debit of 93.03 EUR booked in one sum twice, as SUM-1 and as SUM-2`,
  ]);
});

test('a return before the debit is told settles and returns, and the late debit is no news', async () => {
  const inbox = await inboxWith(pacs004(9, [{ endToEndId: ONE }]), statement({}, debitOf(ONE)));
  expect(inbox.told).toEqual([`${ONE} returned`]);
  expect(inbox.files('done')).toEqual(['0.xml', '1.xml']);
});

test('a batch booked in one sum settles all that was not declined', async () => {
  const transactions = [{ reference: THREE, status: 'RJCT', reason: 'AC04' }];
  const batch: BankEntry = { amount: '62.02 EUR', batch: { messageId: BATCH } };
  const inbox = await inboxWith(pain002({ message: BATCH, transactions }), statement({}, batch));
  expect(inbox.told.toSorted()).toEqual([`${ONE} settled`, `${THREE} declined`, `${TWO} settled`].toSorted());
});

test('a batch of one transfer comes back without its id', async () => {
  await emit(own.records, 'M-2', 'ABCDEFGHIJ0123456799');
  const back: BankEntry = {
    side: 'CRDT',
    transactions: [{ paymentId: 'M-2', endToEndId: 'NOTPROVIDED', amount: SENT, returned: 'AC01' }],
  };
  const inbox = await inboxWith(statement({}, back));
  expect(inbox.told).toEqual(['ABCDEFGHIJ0123456799 returned']);
});

describe('what does not fit changes nothing and is named', () => {
  test.each<[string, BankStatementFile, BankEntry[], string[]]>([
    [
      'another amount',
      {},
      [debitOf(ONE, { transactions: [{ endToEndId: ONE, amount: '310.10 EUR' }] })],
      [`${ONE}: 310.10 EUR where 31.01 EUR was sent`],
    ],
    [
      'another currency',
      {},
      [debitOf(ONE, { transactions: [{ endToEndId: ONE, amount: '31.01 CHF' }] })],
      [`${ONE}: 31.01 CHF where 31.01 EUR was sent`],
    ],
    [
      'another account',
      { account: OTHER_IBAN },
      [debitOf(ONE)],
      [`${ONE}: booked on ${OTHER_IBAN} where ${OUR_IBAN} pays`],
    ],
    [
      'no payout of ours',
      {},
      [debitOf('ZZZZZZZZZZ0123456789')],
      ['ZZZZZZZZZZ0123456789: debit of 31.01 EUR booked, and no payout in a file has this reference'],
    ],
    [
      'no transfer of the batch that it names',
      {},
      [{ transactions: [{ messageId: BATCH, endToEndId: 'X', amount: SENT }] }],
      ['X: debit of 31.01 EUR booked, and no payout in a file has this reference'],
    ],
    [
      'another sum of a batch',
      {},
      [{ amount: '93.02 EUR', batch: { paymentId: BATCH } }],
      [`${BATCH}: debit of 93.02 EUR booked in one sum: 93.02 EUR where 93.03 EUR was sent, in 3 payouts`],
    ],
    [
      'an entry of another amount than its transaction',
      {},
      [debitOf(ONE, { amount: '30.00 EUR' })],
      [`${ONE}: 30.00 EUR where 31.01 EUR was sent`],
    ],
    [
      'a transaction of another amount than its entry',
      {},
      [debitOf(ONE, { transactions: [{ endToEndId: ONE, amount: '30.00 EUR' }] })],
      [`${ONE}: 30.00 EUR where 31.01 EUR was sent`],
    ],
    [
      'transactions that do not add up to their entry',
      {},
      [{ amount: '62.03 EUR', transactions: [ONE, TWO].map((endToEndId) => ({ endToEndId, amount: SENT })) }],
      ['a debit of 62.03 EUR, and its 2 transactions add up to -62.02'],
    ],
    [
      'a batch whose own total was booked in part',
      {},
      [{ amount: '62.02 EUR', batch: { paymentId: BATCH, amount: '93.03 EUR' } }],
      [`${BATCH}: debit of 62.02 EUR booked in one sum: 62.02 EUR where 93.03 EUR was sent, in 3 payouts`],
    ],
    [
      'a whole batch that comes back',
      {},
      [{ side: 'CRDT', amount: '93.03 EUR', batch: { paymentId: BATCH } }],
      [`${BATCH}: credit of 93.03 EUR booked in one sum, back to us`],
    ],
    [
      'a booking that is taken back',
      {},
      [debitOf(ONE, { reversal: ' true ' })],
      [`${ONE}: the bank has taken a booking back`],
    ],
    [
      'a credit without a reason',
      {},
      [debitOf(ONE, { side: 'CRDT' })],
      [`${ONE}: a credit without the reason of a return`],
    ],
  ])('%s', async (_name, file, entries, problems) => {
    const inbox = await inboxWith(statement(file, ...entries));
    expect(inbox.problemsOf('0.xml')).toEqual(problems);
    expect(inbox.told).toEqual([]);
    expect(await own.records.members.countDocuments({ fate: { $in: ['settled', 'returned', 'declined'] } })).toBe(0);
    expect(await own.records.batches.countDocuments({ reportedAt: { $exists: true } })).toBe(0);
  });

  test('a payout that is booked twice, in one statement or in two', async () => {
    const again = debitOf(ONE, { transactions: [{ endToEndId: ONE, amount: SENT, bankReference: 'OTHER' }] });
    const inbox = await inboxWith(statement({}, debitOf(ONE), again), statement({ id: 'S-2' }, again));
    expect(inbox.told).toEqual([`${ONE} settled`]);
    expect(inbox.problemsOf('0.xml')).toEqual([`${ONE}: booked twice in one report`]);
    expect(inbox.problemsOf('1.xml')).toEqual([`${ONE}: booked twice, as B-${ONE} and as OTHER`]);
  });

  test('a statement that leaves an entry out; those that are there count', async () => {
    const file = { opening: '100.00', closing: '37.98' };
    const inbox = await inboxWith(
      statement(file, debitOf(ONE)),
      statement({ ...file, id: 'S-2' }, debitOf(ONE), debitOf(TWO)),
    );
    expect(inbox.problemsOf('0.xml')).toEqual(['S-1: its balances differ by -62.02, and its entries add up to -31.01']);
    expect(inbox.files('done')).toEqual(['1.xml']);
    expect(inbox.told.toSorted()).toEqual([`${ONE} settled`, `${TWO} settled`]);
  });
});

test('what is not of our payouts, or only announced, is left alone', async () => {
  const ofOthers: BankEntry[] = [
    { side: 'CRDT', transactions: [{ endToEndId: 'INVOICE 4711', amount: '5.00 EUR' }] },
    { transactions: [{ endToEndId: 'NOTPROVIDED', amount: '0.35 EUR' }] },
    { amount: '9.00 EUR' },
    debitOf(ONE, { status: 'PDNG' }),
  ];
  const inbox = await inboxWith(statement({}, ...ofOthers));
  expect(inbox.files('done')).toEqual(['0.xml']);
  expect(inbox.told).toEqual([]);
});

describe('what settles is set for each debtor account', () => {
  const settled = pain002({ message: BATCH, group: 'ACSC' });

  test.each<[SettledBy, string, number]>([
    ['either', settled, 3],
    ['status', settled, 3],
    ['booking', settled, 0],
    ['either', statement({}, debitOf(ONE)), 1],
    ['booking', statement({}, debitOf(ONE)), 1],
    ['status', statement({}, debitOf(ONE)), 0],
  ])('%s', async (settledBy, file, count) => {
    const inbox = await inboxSettledBy(settledBy, file);
    expect(inbox.files('done')).toEqual(['0.xml']);
    expect(inbox.told.filter((line) => line.endsWith(' settled'))).toHaveLength(count);
  });
});

test('a statement waits for an earlier report that cannot be applied yet, and later reports wait for a statement', async () => {
  const OTHER = '20261126090000-A5A337BD9FDE4526';
  await emit(own.records, BATCH, ONE);
  await emit(own.records, OTHER, TWO);
  const inbox = await openInbox(own.records, own.schemaCheck);
  const said = (message: string, reference: string, status: string) =>
    pain002({ message, transactions: [{ reference, status, reason: 'AC04' }] });
  inbox.deliver('0.xml', said(BATCH, ONE, 'ACCP'));
  inbox.deliver('1.xml', statement({}, debitOf(TWO)));
  inbox.deliver('2.xml', said(OTHER, TWO, 'RJCT'));
  const away = (reference: string) => (reference === ONE ? Promise.reject(new Error('away')) : Promise.resolve());
  await inbox.round(away);
  expect([inbox.told, inbox.files()]).toEqual([[], ['0.xml', '1.xml', '2.xml']]);
  await inbox.round();
  expect(inbox.told).toEqual([`${ONE} submitted`, `${TWO} settled`, `${TWO} returned`]);
});
