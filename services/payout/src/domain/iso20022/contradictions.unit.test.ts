import fc from 'fast-check';
import type { BankStatus, Fate, Reading, StatusReport, TransactionStatus } from './status-report';
import { isAcceptance, readStatement, restWithout, statementsOf } from './status-report';

/** Reports that contradict an earlier one, or themselves: nobody loses an outcome or gets a wrong one by them. */

const POSITIVE = [
  'RCVD',
  'ACTC',
  'ACCP',
  'ACWC',
  'ACFC',
  'ACPD',
  'ACFW',
  'ACSP',
  'ACWP',
  'PDNG',
  'BLCK',
  'RCVC',
  'ACSC',
  'ACCC',
];
/** A bank that could not read a file says these. */
const OF_THE_FILE = ['FF01', 'FF02', 'RC01', 'RC04', 'TA01', 'TD02', 'TD03', 'TS01'];
const OF_A_DUPLICATE = ['AM05', 'DU01', 'DU05', 'DUPL'];
/** Of no known meaning, or none that a program reads. */
const OF_NOTHING = ['NARR', 'ZZ99', 'DT01'];
const OF_THE_PAYMENT = ['AC01', 'AC04', 'AG01', 'AM04', 'MD07', 'RR04', 'MS02', 'MS03'];

const REFERENCES = ['A', 'B', 'C'];

interface Payout {
  fate: Fate;
  accepted: boolean;
  declinedByName: boolean;
}
type Payouts = Record<string, Payout>;

const fresh = (): Payouts =>
  Object.fromEntries(REFERENCES.map((one) => [one, { fate: 'open', accepted: false, declinedByName: false }]));

/** As the connector applies it; `readings` are those of this report. */
function apply(payouts: Payouts, report: StatusReport): { payouts: Payouts; readings: Record<string, Reading[]> } {
  const said = statementsOf(report);
  const { forTheRest } = restWithout(said, { unmatched: said.withoutId, differing: [] });
  const accepted = Object.values(payouts).some((one) => one.accepted);
  const readings: Record<string, Reading[]> = {};
  const after = Object.entries(payouts).map(([reference, before]): [string, Payout] => {
    let payout = before;
    for (const statement of said.byReference.get(reference) ?? (forTheRest === undefined ? [] : [forTheRest])) {
      const { fate, declinedByName } = payout;
      const known = { fate, declinedByName, accepted, acceptedItself: payout.accepted, writtenAgain: false };
      const reading = readStatement(known, statement);
      (readings[reference] ??= []).push(reading);
      payout = { ...payout, accepted: payout.accepted || isAcceptance(statement.status) };
      if (reading.kind === 'settled' || reading.kind === 'returned') payout = { ...payout, fate: reading.kind };
      if (reading.kind === 'declined') payout = { ...payout, fate: 'declined', declinedByName: !statement.general };
    }
    return [reference, payout];
  });
  return { payouts: Object.fromEntries(after), readings };
}

const given = (...reports: StatusReport[]): Payouts =>
  reports.reduce((payouts, report) => apply(payouts, report).payouts, fresh());

const reportOf = (group: BankStatus, payment: BankStatus, transactions: TransactionStatus[]): StatusReport => ({
  messageId: 'R',
  originalMessageId: 'M',
  group,
  payments: [{ ...payment, transactions }],
});
const SILENT: BankStatus = { reasons: [] };

const statusOf = (statuses: readonly string[], reasons: readonly string[], minLength = 0) =>
  fc.record({
    status: fc.constantFrom(...statuses),
    reasons: fc.array(fc.constantFrom(...reasons), { minLength, maxLength: 3 }),
  });
const positive = statusOf(POSITIVE, OF_NOTHING);
const naming = (reference: string, said: fc.Arbitrary<BankStatus>) =>
  said.map((status): TransactionStatus => ({ ...status, endToEndId: reference }));
/** About A: by name, by its payment, or by the whole message. */
const about = (said: fc.Arbitrary<BankStatus>): fc.Arbitrary<StatusReport> =>
  fc.oneof(
    naming('A', said).map((one) => reportOf(SILENT, SILENT, [one])),
    said.map((one) => reportOf(SILENT, one, [])),
    said.map((one) => reportOf(one, SILENT, [])),
    said.map((one) => reportOf(one, SILENT, [{ ...one, endToEndId: 'A' }])),
  );

const check = <Arguments extends [unknown, ...unknown[]]>(property: fc.IProperty<Arguments>) =>
  fc.assert(property, { numRuns: 1_000 });

describe('given a payout that its bank has accepted', () => {
  const unread = statusOf(['RJCT'], [...OF_THE_FILE, ...OF_A_DUPLICATE], 1);

  it('when it is rejected as unread or as a duplicate, by name or not, then it is for an operator, however often', () => {
    const again = fc.array(about(unread), { minLength: 1, maxLength: 4 });
    check(
      fc.property(fc.array(about(positive), { minLength: 1, maxLength: 3 }), again, (accepting, rejecting) => {
        const before = given(...accepting);
        let payouts = before;
        for (const report of rejecting) {
          const { payouts: after, readings } = apply(payouts, report);
          const kinds = readings['A']?.map(({ kind }) => kind);
          // Identifiers of banks are also reasons of a return.
          if (before['A']?.fate === 'open') expect(kinds).toEqual(['doubtful']);
          else expect(kinds).not.toContain('declined');
          payouts = after;
        }
        if (before['A']?.fate === 'open') expect(payouts['A']).toEqual(before['A']);
      }),
    );
  });

  it('when it is settled and then rejected because of the file, then it is not returned', () => {
    const file = statusOf(['RJCT'], ['FF01', 'FF02', 'TA01', 'TD02', 'TD03', 'TS01'], 1);
    check(
      fc.property(about(statusOf(['ACSC', 'ACCC'], OF_NOTHING)), about(file), (settling, rejecting) => {
        const { payouts, readings } = apply(given(settling), rejecting);
        expect(readings['A']?.map(({ kind }) => kind)).toEqual(['doubtful']);
        expect(payouts['A']?.fate).toBe('settled');
      }),
    );
  });

  it('when a rejection by name explains nothing, or gives no reason, then it is for an operator', () => {
    const unclear = naming('A', statusOf(['RJCT'], OF_NOTHING));
    const accepting = about(statusOf(['ACTC', 'ACCP', 'ACSP', 'PDNG'], OF_NOTHING));
    check(
      fc.property(accepting, unclear, (accepted, rejected) => {
        const { readings } = apply(given(accepted), reportOf(SILENT, SILENT, [rejected]));
        expect(readings['A']?.map(({ kind }) => kind)).toEqual(['doubtful']);
      }),
    );
  });

  it('when it is rejected by name because of the payment, then it is declined', () => {
    const failed = naming('A', statusOf(['RJCT'], OF_THE_PAYMENT, 1));
    const accepting = about(statusOf(['ACTC', 'ACCP', 'ACSP', 'PDNG'], OF_NOTHING));
    check(
      fc.property(accepting, failed, (accepted, rejected) => {
        const { payouts } = apply(given(accepted), reportOf(SILENT, SILENT, [rejected]));
        expect(payouts['A']?.fate).toBe('declined');
      }),
    );
  });
});

it('given an acceptance of another payout, when one is rejected by name for its format, then it is declined', () => {
  const other = naming('B', positive).map((one) => reportOf(SILENT, SILENT, [one]));
  const rejected = naming('A', statusOf(['RJCT'], OF_THE_FILE, 1)).map((one) => reportOf(SILENT, SILENT, [one]));
  check(
    fc.property(other, rejected, (accepting, rejecting) => {
      expect(given(accepting, rejecting)['A']?.fate).toBe('declined');
    }),
  );
});

describe('when a report rejects the whole message', () => {
  const whole = statusOf(['RJCT'], ['FF01', 'AC04', 'AM04', 'MS03', 'ZZ99']);
  /** Of the group, of the payment, or of both. */
  const levels: fc.Arbitrary<[BankStatus, BankStatus]> = fc.oneof(
    whole.map((one): [BankStatus, BankStatus] => [one, SILENT]),
    whole.map((one): [BankStatus, BankStatus] => [SILENT, one]),
    fc.tuple(whole, whole),
  );
  const rejected = statusOf(['RJCT'], ['AC04', 'FF01']);

  it('and contradicts itself by name, then those who are not named are for an operator', () => {
    const contradicting = fc.oneof(statusOf([...POSITIVE, 'CANC'], OF_NOTHING), statusOf(['RJCT'], OF_A_DUPLICATE, 1));
    const named = fc.tuple(naming('A', contradicting), naming('B', fc.oneof(contradicting, rejected)));
    check(
      fc.property(levels, named, fc.boolean(), ([group, payment], [first, second], both) => {
        const { payouts, readings } = apply(fresh(), reportOf(group, payment, both ? [second, first] : [first]));
        expect(payouts['C']).toEqual(fresh()['C']);
        expect(readings['C']).toBeUndefined();
      }),
    );
  });

  it('and every transaction that it names, then it counts for all', () => {
    const named = fc.array(naming('A', rejected), { maxLength: 1 });
    check(
      fc.property(levels, named, ([group, payment], transactions) => {
        const { payouts } = apply(fresh(), reportOf(group, payment, transactions));
        expect(payouts['C']?.fate).toBe('declined');
      }),
    );
  });
});
