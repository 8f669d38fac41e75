import { isRegisteredCode } from '@gateway/contracts';
import { codeOfRejection } from './reasons';
import type { Fate, Statement, StatusReport } from './status-report';
import { readStatement, statementsOf } from './status-report';

const said = (status: string, change: Partial<Statement> = {}): Statement => ({ status, individual: true, ...change });
const report = (change: Partial<StatusReport>): StatusReport => ({
  messageId: 'R1',
  originalMessageId: 'M1',
  payments: [],
  ...change,
});

describe('what a status says, by what is known', () => {
  const onItsWay = ['RCVD', 'ACTC', 'ACCP', 'ACWC', 'ACFC', 'ACSP', 'ACWP', 'PDNG'];
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

  it('RJCT: declined, a return after settlement, else nothing new', () => {
    const rejected = said('RJCT', { reason: 'AC04' });
    expect(readStatement('open', rejected)).toEqual({ kind: 'declined', code: 3170 });
    expect(readStatement('settled', rejected)).toEqual({ kind: 'returned', reasonCode: 'AC04' });
    expect(readStatement('declined', rejected)).toEqual({ kind: 'nothing-new' });
    expect(readStatement('returned', rejected)).toEqual({ kind: 'nothing-new' });
  });

  it('a return without a reason says so', () => {
    expect(readStatement('settled', said('RJCT'))).toEqual({ kind: 'returned', reasonCode: 'NARR' });
  });

  it('a whole message rejected after settlement is no return of all its transfers', () => {
    expect(readStatement('settled', said('RJCT', { reason: 'FF01', individual: false })).kind).toBe('doubtful');
  });

  const fates: Fate[] = ['open', 'settled', 'declined', 'returned'];
  it.each(fates)('a duplicate says nothing about the first one (%s)', (fate) => {
    expect(readStatement(fate, said('RJCT', { reason: 'AM05' })).kind).toBe('doubtful');
    expect(readStatement(fate, said('RJCT', { reason: 'DU01' })).kind).toBe('doubtful');
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
        group: { status: 'ACCP' },
        payments: [
          {
            own: { status: 'ACSP', reason: 'X' },
            transactions: [{ endToEndId: 'A', own: { status: 'RJCT' }, reason: 'AC01' }, { endToEndId: 'B' }],
          },
          { transactions: [{ endToEndId: 'C', bankReference: '7' }] },
        ],
      }),
    );
    expect(Object.fromEntries(byReference)).toEqual({
      A: [{ status: 'RJCT', reason: 'AC01', individual: true }],
      B: [{ status: 'ACSP', reason: 'X', individual: false }],
      C: [{ status: 'ACCP', bankReference: '7', individual: false }],
    });
    expect(problems).toEqual([]);
  });

  it('a rejection’s reason above does not stick to a transaction that says another status', () => {
    const { byReference } = statementsOf(
      report({
        group: { status: 'RJCT', reason: 'AM05' },
        payments: [{ transactions: [{ endToEndId: 'A', own: { status: 'RJCT' } }] }],
      }),
    );
    expect(byReference.get('A')).toEqual([{ status: 'RJCT', individual: true }]);
  });

  it('the group’s status is that of all that are not named', () => {
    expect(statementsOf(report({ group: { status: 'RJCT', reason: 'FF01' } })).forTheRest).toEqual({
      status: 'RJCT',
      reason: 'FF01',
      individual: false,
    });
  });

  it('PART says nothing about those that are not named', () => {
    const partial = report({
      group: { status: 'PART' },
      payments: [{ transactions: [{ endToEndId: 'A', own: { status: 'ACSC' } }, { endToEndId: 'B' }] }],
    });
    const { byReference, forTheRest, problems } = statementsOf(partial);
    expect(forTheRest).toBeUndefined();
    expect([...byReference.keys()]).toEqual(['A']);
    expect(problems).toEqual(['B without a status']);
  });

  it('keeps the order of what is said twice', () => {
    const twice = [
      { endToEndId: 'A', own: { status: 'ACSC' } },
      { endToEndId: 'A', own: { status: 'RJCT' } },
    ];
    const { byReference } = statementsOf(report({ payments: [{ transactions: twice }] }));
    expect(byReference.get('A')?.map(({ status }) => status)).toEqual(['ACSC', 'RJCT']);
  });

  it.each([
    ['nothing at all', report({})],
    ['only that it is partial', report({ group: { status: 'PART' } })],
  ])('says so when it says %s', (_what, empty) => {
    expect(statementsOf(empty).problems).toEqual(['no status that says anything']);
  });
});
