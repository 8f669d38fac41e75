import { isRegisteredCode } from '@gateway/contracts';
import { codeOfRejection } from './reasons';
import type { BankStatus, Fate, Statement, StatusReport, TransactionStatus } from './status-report';
import { readStatement as read, statementsOf } from './status-report';

const said = (status: string, change: Partial<Statement> = {}): Statement => ({
  status,
  reasons: [],
  general: false,
  named: true,
  ...change,
});
const unknown = { writtenAgain: false, accepted: false, acceptedItself: false, declinedByName: false };
const readStatement = (fate: Fate, statement: Statement) => read({ ...unknown, fate }, statement);
const report = (change: Partial<StatusReport>): StatusReport => ({
  messageId: 'R1',
  originalMessageId: 'M1',
  group: says(),
  payments: [],
  ...change,
});
/** The status of one level. */
const says = (status?: string, ...reasons: string[]): BankStatus => ({
  ...(status === undefined ? {} : { status }),
  reasons,
});
const transaction = (endToEndId: string, status?: string, ...reasons: string[]): TransactionStatus => ({
  endToEndId,
  ...says(status, ...reasons),
});

describe('the meaning of a status, by the known outcome', () => {
  const onItsWay = ['RCVD', 'ACTC', 'ACCP', 'ACWC', 'ACFC', 'ACPD', 'ACFW', 'ACSP', 'ACWP', 'PDNG', 'BLCK'];
  it.each(onItsWay)('%s: on its way, and nothing new once it has ended', (status) => {
    expect(readStatement('open', said(status))).toEqual({ kind: 'submitted' });
    for (const fate of ['settled', 'declined', 'returned'] as const) {
      expect(readStatement(fate, said(status))).toEqual({ kind: 'nothing-new' });
    }
  });

  it.each(['ACSC', 'ACCC'])('%s: settled', (status) => {
    const readings = (['open', 'settled', 'declined', 'returned'] as const).map(
      (fate) => readStatement(fate, said(status)).kind,
    );
    expect(readings).toEqual(['settled', 'nothing-new', 'settled', 'nothing-new']);
  });

  it('a settled message does not affect a transfer declined by name', () => {
    const byName = { ...unknown, fate: 'declined', declinedByName: true } as const;
    expect(read(byName, said('ACSC', { named: false, general: true })).kind).toBe('nothing-new');
    expect(read(byName, said('ACSC', { general: true })).kind).toBe('settled');
    expect(readStatement('declined', said('ACSC', { named: false, general: true })).kind).toBe('settled');
  });

  it('RJCT: declined, a return after settlement, else nothing new', () => {
    const rejected = said('RJCT', { reasons: ['AC04'] });
    expect(readStatement('open', rejected)).toEqual({ kind: 'declined', code: 3170 });
    expect(readStatement('settled', rejected)).toEqual({ kind: 'returned', reasonCode: 'AC04' });
    expect(readStatement('declined', rejected)).toEqual({ kind: 'nothing-new' });
    expect(readStatement('returned', rejected)).toEqual({ kind: 'nothing-new' });
  });

  it('a return without a reason says so', () => {
    expect(readStatement('settled', said('RJCT'))).toEqual({ kind: 'returned', reasonCode: 'NARR' });
  });

  it('the rejection of a whole message after settlement does not return its transfers', () => {
    expect(readStatement('settled', said('RJCT', { reasons: ['FF01'], general: true })).kind).toBe('doubtful');
  });

  it('the rejection of a message that may have been sent twice may mean the second copy', () => {
    const known = { ...unknown, fate: 'open', writtenAgain: true } as const;
    expect(read(known, said('RJCT', { reasons: ['FF01'], general: true })).kind).toBe('doubtful');
    expect(read(known, said('RJCT', { reasons: ['AC04'] })).kind).toBe('declined');
    expect(read(known, said('ACSC', { general: true })).kind).toBe('settled');
  });

  const fates: Fate[] = ['open', 'settled', 'declined', 'returned'];
  it.each(fates)('a duplicate leaves the outcome of the first one open (%s)', (fate) => {
    expect(readStatement(fate, said('RJCT', { reasons: ['AM05'] })).kind).toBe('doubtful');
    expect(readStatement(fate, said('RJCT', { reasons: ['DU01'] })).kind).toBe('doubtful');
    expect(readStatement(fate, said('RJCT', { reasons: ['NARR', 'AM05'] }))).toEqual({
      kind: 'doubtful',
      problem: 'rejected as a duplicate (AM05)',
    });
  });

  it.each(fates)('an unknown status is not guessed (%s)', (fate) => {
    expect(readStatement(fate, said('CANC'))).toEqual({ kind: 'doubtful', problem: 'status CANC is not known' });
  });
});

describe('codes of rejections', () => {
  it.each([
    ['AC01', 3170],
    ['AC04', 3170],
    ['AC06', 3157],
    ['AG01', 3157],
    ['AG02', 3113],
    ['AM04', 3101],
    ['BE04', 3110],
    ['CNOR', 3157],
    ['MS03', 3100],
    ['RR04', 3120],
    ['ZZ99', 3140],
    ['constructor', 3140],
    [undefined, 3140],
  ])('%s is %d', (reason, code) => {
    expect(codeOfRejection(reason)).toBe(code);
    expect(isRegisteredCode(code)).toBe(true);
  });
});

describe('statements of a report', () => {
  it('takes a transaction’s own status, else its payment’s, else the group’s', () => {
    const { byReference, problems } = statementsOf(
      report({
        group: says('ACCP'),
        payments: [
          { ...says('ACSP', 'X'), transactions: [transaction('A', 'RJCT', 'AC01'), transaction('B')] },
          { ...says(), transactions: [{ ...transaction('C'), bankReference: '7' }] },
        ],
      }),
    );
    expect(Object.fromEntries(byReference)).toEqual({
      A: [{ status: 'RJCT', reasons: ['AC01'], general: false, named: true }],
      B: [{ status: 'ACSP', reasons: ['X'], general: false, named: false }],
      C: [{ status: 'ACCP', reasons: [], bankReference: '7', general: true, named: false }],
    });
    expect(problems).toEqual([]);
  });

  const ofA = (group: BankStatus, payment: BankStatus, own: BankStatus) =>
    statementsOf(
      report({ group, payments: [{ ...payment, transactions: [{ ...own, endToEndId: 'A' }] }] }),
    ).byReference.get('A');

  it.each<[string, BankStatus, BankStatus]>([
    ['the group', says('RJCT', 'AM05'), says()],
    ['the payment', says('RJCT'), says('RJCT', 'AM05')],
    ['the group, of payment and transaction', says('RJCT', 'AM05'), says('RJCT')],
    ['the group, which has a reason but no status', says(undefined, 'AM05'), says()],
    ['the partly rejected group', says('PART', 'AM05'), says('PART')],
    ['the group, if the payment says less', says('RJCT', 'AM05'), says('PART')],
  ])('a rejection without a reason has that of %s', (_level, group, payment) => {
    expect(ofA(group, payment, says('RJCT'))).toMatchObject([{ status: 'RJCT', reasons: ['AM05'] }]);
  });

  it('a rejection puts its own reason before those of higher levels', () => {
    expect(ofA(says('RJCT', 'AM05'), says(), says('RJCT', 'AC04'))).toMatchObject([{ reasons: ['AC04', 'AM05'] }]);
  });

  it('a reason of another status does not apply to the transaction', () => {
    expect(ofA(says('RJCT', 'AM05'), says('RJCT', 'FF01'), says('ACSC'))).toEqual([
      { status: 'ACSC', reasons: [], general: false, named: true },
    ]);
    expect(ofA(says('PART', 'AM05'), says(), says('ACSC'))).toMatchObject([{ reasons: [] }]);
  });

  it('is general if a transaction repeats the status of a higher level', () => {
    expect(ofA(says('RJCT'), says(), says('RJCT'))).toMatchObject([{ general: true }]);
    expect(ofA(says('RJCT'), says('PART'), says('RJCT'))).toMatchObject([{ general: true }]);
    expect(ofA(says(), says('RJCT'), says('RJCT', 'AC04'))).toMatchObject([{ general: true }]);
    expect(ofA(says('PART'), says('PART'), says('RJCT'))).toMatchObject([{ general: false }]);
    expect(ofA(says('PART'), says('RJCT'), says('RJCT'))).toMatchObject([{ general: false }]);
    expect(ofA(says(), says(), says('RJCT'))).toMatchObject([{ general: false }]);
  });

  it('has the nearest description', () => {
    const words = (description: string) => ({ ...says('RJCT'), description });
    expect(ofA(words('all'), words('payment'), says('RJCT'))).toMatchObject([{ description: 'payment' }]);
    expect(ofA(words('all'), words('payment'), words('own'))).toMatchObject([{ description: 'own' }]);
  });

  it('the group’s status applies to all transfers that are not named', () => {
    expect(statementsOf(report({ group: says('RJCT', 'FF01') })).forTheRest).toEqual({
      status: 'RJCT',
      reasons: ['FF01'],
      general: true,
      named: false,
    });
  });

  it('PART does not apply to transfers that are not named', () => {
    const partial = report({
      group: says('PART'),
      payments: [{ ...says(), transactions: [transaction('A', 'ACSC'), transaction('B')] }],
    });
    const { byReference, forTheRest, problems } = statementsOf(partial);
    expect(forTheRest).toBeUndefined();
    expect([...byReference.keys()]).toEqual(['A']);
    expect(problems).toEqual(['B without a status']);
  });

  const inBlocks = (group: BankStatus, ...payments: BankStatus[]) =>
    statementsOf(report({ group, payments: payments.map((payment) => ({ ...payment, transactions: [] })) }));

  it('blocks of one status apply it, with all their reasons, to transfers that are not named', () => {
    expect(inBlocks(says(), says('RJCT', 'FF01'), says('RJCT', 'AM05'))).toMatchObject({
      forTheRest: { status: 'RJCT', reasons: ['FF01', 'AM05'] },
    });
    expect(inBlocks(says('ACSC'), says('ACSC'), says())).toMatchObject({ forTheRest: { status: 'ACSC' } });
    expect(inBlocks(says('ACTC'), says('ACSC'))).toMatchObject({ forTheRest: { status: 'ACSC' } });
  });

  it.each<[string, BankStatus, BankStatus[]]>([
    ['PART and RJCT and ACSC', says('PART'), [says('RJCT'), says('ACSC')]],
    ['PART and RJCT', says('PART'), [says('RJCT')]],
    ['RJCT and ACSC', says('RJCT'), [says(), says('ACSC')]],
    ['RJCT and none', says(), [says('RJCT'), says()]],
    ['ACSC and RJCT', says('ACSC'), [says('RJCT')]],
    ['RJCT and PART', says('RJCT'), [says('PART')]],
  ])('a payment reported as %s does not affect transfers that are not named', (unclearRest, group, payments) => {
    expect(inBlocks(group, ...payments)).toEqual({
      byReference: new Map(),
      withoutId: [],
      unclearRest,
      problems: [],
    });
  });

  it('blocks that name transactions apply only to those, unless the group has a status', () => {
    const payments = ['A', 'B'].map((id) => ({ ...says('RJCT'), transactions: [transaction(id)] }));
    const { byReference, ...rest } = statementsOf(report({ payments }));
    expect([...byReference.keys()]).toEqual(['A', 'B']);
    expect(rest).toEqual({ withoutId: [], unclearRest: 'RJCT in several blocks', problems: [] });
    expect(statementsOf(report({ group: says('RJCT'), payments }))).toMatchObject({ forTheRest: { status: 'RJCT' } });
  });

  it('keeps the order of repeated statements', () => {
    const twice = [transaction('A', 'ACSC'), transaction('A', 'RJCT')];
    const { byReference } = statementsOf(report({ payments: [{ ...says(), transactions: twice }] }));
    expect(byReference.get('A')?.map(({ status }) => status)).toEqual(['ACSC', 'RJCT']);
  });

  it.each([
    ['nothing at all', report({})],
    ['only that it is partial', report({ group: says('PART') })],
  ])('reports a problem if it says %s', (_what, empty) => {
    expect(statementsOf(empty).problems).toEqual(['no status that says anything']);
  });
});
