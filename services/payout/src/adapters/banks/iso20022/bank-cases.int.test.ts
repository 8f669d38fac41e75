import { testServers } from '@gateway/testing';
import type { OwnRecords } from './inbox.fixture';
import { emit, openInbox, openOwnRecords } from './inbox.fixture';
import { pain002 } from './iso20022.fixture';

/** Reports in shapes that banks have sent, and what becomes of the payouts. */

let own: OwnRecords;
beforeAll(async () => {
  own = await openOwnRecords(testServers().mongoUri);
});
beforeEach(() => own.empty());
afterAll(() => own.close());

/** Reads reports on `M1`, one after the other; it has the payouts A, B and C. */
async function read(...reports: (string | Buffer)[]) {
  await emit(own.records, 'M1', 'A', 'B', 'C');
  const inbox = await openInbox(own.records, own.schemaCheck);
  reports.forEach((report, index) => inbox.deliver(`${index + 1}.xml`, report));
  await inbox.round();
  expect(inbox.files()).toEqual([]);
  return inbox;
}

const fates = async () => {
  const members = await own.records.members.find().sort({ _id: 1 }).toArray();
  return members.map(({ fate = 'open' }) => fate);
};
const OPEN = ['open', 'open', 'open'];
const SETTLED = ['settled', 'settled', 'settled'];

const named = (reference: string, status: string, reason?: string) => ({
  reference,
  status,
  ...(reason === undefined ? {} : { reason }),
});
/** The payment settled, with exceptions. */
const settledBut = (...transactions: object[]) =>
  pain002({ message: 'M1', blocks: [{ status: 'ACSC', transactions }] });

describe('XML is read as XML', () => {
  const rejecting = (status: string, reason: string) => settledBut({ reference: 'A', status, reason });
  const plain = rejecting('RJCT', 'AC04');

  it.each<[string, string | Buffer]>([
    ['as it is', plain],
    ['a processing instruction in the status', rejecting('RJCT<?bank mark?>', 'AC04')],
    ['one in the middle of it', rejecting('RJ<?bank mark?>CT', 'AC04')],
    ['a comment in it', rejecting('RJ<!-- mark -->CT', 'AC04')],
    ['a CDATA section', rejecting('RJ<![CDATA[CT]]>', 'AC04')],
    ['character references', rejecting('&#82;JCT', 'AC0&#x34;')],
    ['a comment in the reference', plain.replace('>A<', '><!-- mark -->A<')],
    ['a byte order mark', `\ufeff${plain}`],
    ['UTF-16', Buffer.from(`\ufeff${plain.replace('UTF-8', 'UTF-16')}`, 'utf16le')],
    ['big-endian UTF-16', Buffer.from(`\ufeff${plain.replace('UTF-8', 'UTF-16')}`, 'utf16le').swap16()],
    ['declared Latin-1', Buffer.from(plain.replace('UTF-8', 'ISO-8859-1').replace('such', 'süch'), 'latin1')],
    ['a prefix', plain.replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:').replace('xmlns=', 'xmlns:p=')],
  ])('%s', async (_how, report) => {
    const inbox = await read(report);
    expect(await fates()).toEqual(['declined', 'settled', 'settled']);
    expect(inbox.news[0]?.outcome).toMatchObject({ kind: 'declined', code: 3170, bank: { reasonCode: 'AC04' } });
  });

  it('the words of the bank are what it wrote', async () => {
    const words = 'Empf&#228;nger unbekannt &#x2013; M&#xFC;ller &amp; S&#246;hne';
    const inbox = await read(rejecting('RJCT', 'AC04').replace('because of', words));
    expect(inbox.news[0]?.outcome.bank?.reasonDescription).toMatch(/^Empfänger unbekannt – Müller & Söhne AC04/);
  });

  it.each(['AM05<?bank mark?>', 'AM0&#53;', '<!-- mark -->AM05', 'AM<![CDATA[05]]>'])(
    'a duplicate is one as %s',
    async (reason) => {
      const inbox = await read(pain002({ message: 'M1', transactions: [named('A', 'RJCT', reason)] }));
      expect(inbox.problemsOf('1.xml')).toEqual(['A: rejected as a duplicate (AM05)']);
      expect(await fates()).toEqual(OPEN);
    },
  );
});

describe('a transaction that matches no payout, and differs from the general status', () => {
  it.each<[string, object]>([
    ['in lower case', named('a', 'RJCT', 'AC04')],
    ['as NOTPROVIDED', named('NOTPROVIDED', 'RJCT', 'AC04')],
    ['with its instruction alone', { instruction: 'A', status: 'RJCT', reason: 'AC04' }],
    ['unknown', named('X', 'RJCT', 'AC04')],
    ['with a blank', named(' A', 'RJCT', 'AC04')],
    ['of an unknown status', named('X', 'CANC')],
  ])('%s, lets nobody be settled who is not named', async (_how, stranger) => {
    const inbox = await read(settledBut(stranger, named('B', 'ACSC')));
    expect(await fates()).toEqual(['open', 'settled', 'open']);
    expect(inbox.problemsOf('1.xml')).toContainEqual(
      expect.stringMatching(/^2 not named, payment said to be ACSC, and/),
    );
  });

  it('lets nobody be rejected who is not named', async () => {
    const transactions = [named('X', 'ACSC')];
    await read(pain002({ message: 'M1', group: 'RJCT', groupReason: 'AC04', transactions }));
    expect(await fates()).toEqual(OPEN);
  });

  it('does not matter if all are named, or if it says the same', async () => {
    await read(settledBut(named('X', 'RJCT'), ...['A', 'B', 'C'].map((reference) => named(reference, 'ACSC'))));
    expect(await fates()).toEqual(SETTLED);
  });

  it('does not matter if it says the same', async () => {
    await read(settledBut(named('X', 'ACSC')));
    expect(await fates()).toEqual(SETTLED);
  });
});

describe('a file that reached the bank twice', () => {
  const accepted = (status: string) => pain002({ message: 'M1', id: 'R1', group: status });
  const refused = (id: string, reason?: string) =>
    pain002({ message: 'M1', id, group: 'RJCT', ...(reason === undefined ? {} : { groupReason: reason }) });
  const settled = pain002({ message: 'M1', id: 'R9', group: 'ACSC' });

  describe.each(['RCVD', 'ACTC', 'ACCP', 'ACSP', 'PDNG', 'RCVC'])('after %s', (status) => {
    it.each(['FF01', 'AM05', 'MS03', 'NARR', 'DT01', undefined])(
      'a rejection of the whole for %s changes nothing, however often, and the settlement counts',
      async (reason) => {
        const inbox = await read(accepted(status), refused('R2', reason), refused('R3', reason), settled);
        expect(inbox.files('failed')).toEqual(['2.xml', '3.xml']);
        expect(inbox.problemsOf('3.xml')).toHaveLength(3);
        expect(await fates()).toEqual(SETTLED);
        expect(inbox.news.filter(({ outcome }) => outcome.kind === 'declined')).toEqual([]);
        expect(inbox.news.at(-1)?.outcome).toEqual({ kind: 'settled', bank: { advice: 'ACSC' } });
      },
    );
  });

  it('a rejection of the whole counts if it is about the payment', async () => {
    await read(accepted('ACCP'), refused('R2', 'AM04'));
    expect(await fates()).toEqual(['declined', 'declined', 'declined']);
  });

  it('so does one of the file before anything else was said', async () => {
    await read(refused('R2', 'FF01'));
    expect(await fates()).toEqual(['declined', 'declined', 'declined']);
  });

  it('an acceptance of one is one of the file', async () => {
    await read(pain002({ message: 'M1', transactions: [named('A', 'ACSP')] }), refused('R2', 'FF01'));
    expect(await fates()).toEqual(OPEN);
  });

  it('an acceptance that an earlier release recorded counts', async () => {
    await emit(own.records, 'M2', 'D');
    await own.records.members.updateOne({ _id: 'D' }, { $set: { status: 'ACCP' } });
    await read(pain002({ message: 'M2', group: 'RJCT', groupReason: 'FF01' }));
    expect((await own.records.members.findOne({ _id: 'D' }))?.fate).toBeUndefined();
  });
});

describe('a rejection by name after an acceptance of the same payout', () => {
  const rejected = (id: string, reason?: string) =>
    pain002({ message: 'M1', id, transactions: [named('A', 'RJCT', reason)] });
  const settled = pain002({ message: 'M1', id: 'R9', transactions: [named('A', 'ACSC')] });

  describe.each([
    ['by name', pain002({ message: 'M1', transactions: [named('A', 'ACSP')] })],
    ['with the whole message', pain002({ message: 'M1', group: 'ACCP' })],
  ])('%s', (_how, accepted) => {
    it.each(['FF01', 'RC01', 'AM05', 'NARR', 'DT01', undefined])(
      'for %s changes nothing, however often, and the settlement counts',
      async (reason) => {
        const inbox = await read(accepted, rejected('R2', reason), rejected('R3', reason), settled);
        expect(inbox.files('failed')).toEqual(['2.xml', '3.xml']);
        expect(inbox.problemsOf('3.xml')).toEqual([
          expect.stringMatching(/^A: rejected (as a duplicate|.*after it was accepted)/),
        ]);
        expect(await fates()).toEqual(['settled', 'open', 'open']);
        expect(inbox.told.filter((told) => !told.endsWith('submitted'))).toEqual(['A settled']);
      },
    );

    it.each(['AC04', 'MS03'])('for %s declines it', async (reason) => {
      await read(accepted, rejected('R2', reason));
      expect(await fates()).toEqual(['declined', 'open', 'open']);
    });
  });

  it('that an earlier release recorded is for an operator too', async () => {
    await emit(own.records, 'M2', 'D');
    await own.records.members.updateOne({ _id: 'D' }, { $set: { status: 'ACCP' } });
    await read(pain002({ message: 'M2', transactions: [named('D', 'RJCT', 'FF01')] }));
    expect((await own.records.members.findOne({ _id: 'D' }))?.status).toBe('RJCT');
    expect((await own.records.members.findOne({ _id: 'D' }))?.fate).toBeUndefined();
  });

  it('counts if another payout was accepted', async () => {
    await read(pain002({ message: 'M1', transactions: [named('B', 'ACSP')] }), rejected('R2', 'FF01'));
    expect(await fates()).toEqual(['declined', 'open', 'open']);
  });

  it('is no return of a settlement if it is about the file', async () => {
    const inbox = await read(settled, rejected('R10', 'FF01'));
    expect(inbox.problemsOf('2.xml')).toEqual(['A: rejected after it was settled, because of the file (FF01)']);
    expect(inbox.told).toEqual(['A settled']);
  });
});

describe('a rejection of the whole that contradicts itself', () => {
  it.each([
    ['a settlement', named('A', 'ACSC'), 'settled', 'ACSC of a transaction'],
    ['an acceptance', named('A', 'ACSP'), 'open', 'ACSP of a transaction'],
    ['a duplicate', named('A', 'RJCT', 'AM05'), 'open', 'a transaction is a duplicate'],
  ])('by %s decides about those alone that it names', async (_how, transaction, fate, contradiction) => {
    const transactions = [transaction, named('B', 'RJCT', 'AC04')];
    const inbox = await read(pain002({ message: 'M1', group: 'RJCT', transactions }));
    expect(await fates()).toEqual([fate, 'declined', 'open']);
    expect(inbox.problemsOf('1.xml')).toContain(`1 not named, payment said to be RJCT, and ${contradiction}`);
  });
});

describe('several documents in one file', () => {
  const first = pain002({ message: 'M1', id: 'R1', group: 'ACTC' });
  const second = pain002({ message: 'M1', id: 'R2', group: 'ACSC' });
  const lines = first.split('\n').length;

  it.each([
    ['one declaration', [first, second.split('\n').slice(1).join('\n')].join('\n'), lines + 1],
    ['a declaration each', [first, second].join('\n'), lines + 2],
  ])('with %s are refused with the line of the second root, and none is applied', async (_how, both, line) => {
    const inbox = await read(both);
    expect(inbox.problemsOf('1.xml')).toEqual([expect.stringMatching(new RegExp(`at line ${line}(;|$)`))]);
    expect(inbox.news).toEqual([]);
    expect(await fates()).toEqual(OPEN);
    expect((await own.records.batches.findOne({ _id: 'M1' }))?.reportedAt).toBeUndefined();
  });
});

describe('an echo that is not ours', () => {
  it.each<[string, object, string]>([
    ['a sum', { sum: '3.10' }, 'OrgnlCtrlSum 3.10 where 93.03 was sent'],
    ['a number', { count: '2' }, 'OrgnlNbOfTxs 2 where 3 were sent'],
  ])('%s decides nothing, and does not count as a report', async (_what, echo, problem) => {
    const inbox = await read(pain002({ message: 'M1', group: 'ACSC', ...echo }));
    expect(inbox.problemsOf('1.xml')).toEqual([problem]);
    expect(await fates()).toEqual(OPEN);
    expect((await own.records.batches.findOne({ _id: 'M1' }))?.reportedAt).toBeUndefined();
  });

  it.each(['3.10 EUR', '31.01 USD', '31.01001 EUR'])(
    'an amount of %s decides nothing for its payout or those who are not named',
    async (amount) => {
      const wrong = { ...named('A', 'ACSC'), amount };
      const inbox = await read(settledBut(wrong, { ...named('B', 'ACSC'), amount: '031.010 EUR' }));
      expect(inbox.files('failed')).toEqual(['1.xml']);
      expect(await fates()).toEqual(['open', 'settled', 'open']);
    },
  );

  it('shows both amounts', async () => {
    const inbox = await read(settledBut({ ...named('A', 'ACSC'), amount: '3.10 EUR' }));
    expect(inbox.problemsOf('1.xml')).toEqual([
      'A: 3.10 EUR where 31.01 EUR was sent',
      '2 not named, payment said to be ACSC, and amounts that are not ours',
    ]);
    expect(inbox.news).toEqual([
      { reference: 'A', outcome: { kind: 'submitted', bank: { advice: 'ACSC', transactionId: 'BANK-1' } } },
    ]);
  });

  it('is compared as a number', async () => {
    const transactions = [{ ...named('A', 'ACSC'), amount: '+031.010 EUR' }];
    const report = pain002({ message: 'M1', group: 'ACSC', count: '003', sum: ' 93.0300 ', transactions });
    const inbox = await read(report);
    expect(inbox.files('done')).toEqual(['1.xml']);
    expect(await fates()).toEqual(SETTLED);
  });

  it('of a payment that is not ours does not count as a report', async () => {
    await read(pain002({ message: 'M1', payment: 'NOTPROVIDED', blocks: [{ status: 'ACSC', transactions: [] }] }));
    expect(await fates()).toEqual(OPEN);
    expect((await own.records.batches.findOne({ _id: 'M1' }))?.reportedAt).toBeUndefined();
  });
});

describe('a verification of the payee', () => {
  it.each(['RCVC', 'RVMC', 'RVNM', 'RVNA'])('as %s is neither an outcome nor a problem', async (status) => {
    const checked = pain002({ message: 'M1', group: status, transactions: [named('A', status, 'NARR')] });
    const inbox = await read(checked, pain002({ message: 'M1', id: 'R2', transactions: [named('A', 'ACSC')] }));
    expect(inbox.files('done')).toEqual(['1.xml', '2.xml']);
    expect(inbox.told).toEqual(['A submitted', 'A settled']);
    expect(await fates()).toEqual(['settled', 'open', 'open']);
  });
});

describe('a refusal of a file that the bank cannot name', () => {
  it('shows what the bank says and the files that it may mean', async () => {
    await emit(own.records, 'M2', 'D');
    const words = '<![CDATA[element <CdtTrfTxInf> of DE89 3704 0044 0532 0130 00 is not allowed]]>';
    const refusal = pain002({ message: 'NOTPROVIDED', group: 'RJCT', groupReason: 'FF01' }).replace(
      'because of',
      words,
    );
    const inbox = await read(pain002({ message: 'M1', group: 'ACTC' }), refusal);
    expect(inbox.problemsOf('2.xml')).toEqual([
      'no message NOTPROVIDED is known',
      expect.stringMatching(/^the bank says RJCT FF01: element <CdtTrfTxInf> of DE89 .* is not allowed/),
      'files without a report: M2',
    ]);
    const [line = ''] = inbox.lines.filter((one) => one.includes('never sent'));
    expect(line).toContain("unreported: [ 'M2' ]");
    expect(line).toContain('element <CdtTrfTxInf> of [account] is not allowed');
  });
});

describe('every version from .03 to .15', () => {
  const versions = Array.from({ length: 13 }, (_, index) => String(index + 3).padStart(2, '0'));

  it.each(versions)('.%s', async (version) => {
    const agent = version === '03' ? 'BIC' : 'BICFI';
    const withAgent = (report: string) =>
      report.replace(
        '</GrpHdr>',
        `<DbtrAgt><FinInstnId><${agent}>COBADEFFXXX</${agent}></FinInstnId></DbtrAgt></GrpHdr>`,
      );
    const partly = { message: 'M1', version, group: 'PART', count: '3' };
    const inbox = await read(
      withAgent(pain002({ ...partly, transactions: [named('A', 'ACSC'), named('B', 'RJCT', 'AC04')] })),
      withAgent(pain002({ message: 'M1', version, id: 'R2', blocks: [{ status: 'ACCP', transactions: [] }] })),
    );
    expect(inbox.files('done')).toEqual(['1.xml', '2.xml']);
    expect(await fates()).toEqual(['settled', 'declined', 'open']);
  });

  it.each(['02', '16'])('but not .%s', async (version) => {
    const inbox = await read(pain002({ message: 'M1', version, group: 'ACSC' }));
    expect(inbox.problemsOf('1.xml')).toEqual([expect.stringContaining('is not taken')]);
  });
});
