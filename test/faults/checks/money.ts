import { paymentIdOf } from '@gateway/contracts';
import type { BankCall, BankEntry, BankOperation, Evidence, Observation } from '../model/evidence';
import { documentsOf } from '../model/evidence';

const SUCCESS = 'SUCCESS';

/** The bank's operation for each transaction type. AUTH3D and TOKENIZE have none. */
const BANK_OPERATION: Partial<Record<string, BankOperation>> = {
  AUTH: 'authorize',
  SALE: 'sale',
  SALE3D: 'sale',
  SETTLE: 'capture',
  VOID: 'void',
  REFUND: 'refund',
  PAYOUT: 'payout',
};

const approvedEntries = ({ bank }: Evidence) => bank.filter(({ state }) => state === 'approved');

/** Every reported success is in the bank's books with the same kind and amount. */
export function successesAreTheBanks(evidence: Evidence): string[] {
  const approved = new Map(approvedEntries(evidence).map((entry) => [entry.reference, entry]));
  const types = new Map(evidence.observations.map(({ reference, type }) => [reference, type]));
  const problems = new Set<string>();
  for (const report of evidence.observations) {
    const expected = BANK_OPERATION[report.type];
    if (report.status !== SUCCESS || expected === undefined) continue;
    // An AUTH3D holds no money, so its VOID does not reach a bank.
    if (report.type === 'VOID' && types.get(report.baseReference ?? '') === 'AUTH3D') continue;
    const entry = approved.get(report.reference);
    if (entry?.operation !== expected)
      problems.add(`${report.reference}: ${report.type} is a success, but ${atBank(entry)}`);
    else if (differs(report, entry))
      problems.add(`${report.reference}: ${report.amountE4} reported, ${entry.amountE4} moved`);
  }
  return [...problems];
}

function atBank(entry: BankEntry | undefined): string {
  return entry === undefined ? 'the bank knows nothing of it' : `the bank did ${entry.operation}`;
}

function differs({ type, amountE4 }: Observation, entry: BankEntry): boolean {
  return type !== 'VOID' && amountE4 !== undefined && amountE4 !== entry.amountE4;
}

/** CHECK has shown every entry of the banks' books as a success. */
export function movedMoneyIsShown(evidence: Evidence): string[] {
  const shown = new Set(
    evidence.observations
      .filter(({ source, status }) => source === 'check' && status === SUCCESS)
      .map(({ reference }) => reference),
  );
  return approvedEntries(evidence)
    .filter(({ reference }) => !shown.has(reference))
    .map(({ reference, operation, amountE4 }) => `${reference}: ${operation} of ${amountE4} never shown by CHECK`);
}

/**
 * Nothing is charged, settled, refunded or paid twice: neither within a payment nor for one merchant's request, even if
 * it has several references.
 */
export function nothingMovesTwice(evidence: Evidence): string[] {
  const requests = new Map(
    documentsOf(evidence, 'edge.journal').map((entry) => [
      entry._id,
      `${String(entry['space'])} ${String(entry['merchantAccount'])} ${String(entry['transactionUniqueId'])}`,
    ]),
  );
  const approved = approvedEntries(evidence);
  return [
    ...repeated(approved, ({ reference, operation }) => `${paymentIdOf(reference)}: ${roleOf(operation)}`),
    ...repeated(approved, ({ reference }) => requests.get(reference)),
    ...repeated(approved, ({ reference }) => `reference ${reference}`),
  ];
}

/** A payment has at most one operation per role. A captured hold cannot be voided. */
function roleOf(operation: BankOperation | undefined): string {
  switch (operation) {
    case 'authorize':
    case 'sale':
      return 'charged';
    case 'capture':
    case 'void':
      return 'settled or voided';
    case 'refund':
      return 'refunded';
    case 'payout':
      return 'paid';
    case undefined:
      return 'unknown';
  }
}

function repeated(entries: readonly BankEntry[], keyOf: (entry: BankEntry) => string | undefined): string[] {
  const groups = Map.groupBy(entries, keyOf);
  return [...groups]
    .filter(([key, group]) => key !== undefined && group.length > 1)
    .map(([key, group]) => `${key} ${group.length} times: ${group.map(({ reference }) => reference).join(', ')}`);
}

/** "Invalid acquirer reference": the gateway sent a request that its own rules forbid. */
const AGAINST_THE_BOOKS = 3122;

/**
 * An acquirer gets one call per operation. A bank gets a payout again only after an inquiry. Neither gets a request that
 * its books forbid, and no call is cancelled while it may still be under way.
 */
export function banksAreAskedOnce(evidence: Evidence): string[] {
  const byKey = Map.groupBy(evidence.calls, ({ key }) => key);
  const problems = evidence.bank
    .filter(({ code }) => code === AGAINST_THE_BOOKS)
    .map(({ reference, operation }) => `${reference}: ${operation} is against the bank's books`);
  for (const [key, calls] of byKey) {
    const made = calls.filter(({ kind }) => kind === 'call').sort((a, b) => a.at - b.at);
    const [first] = made;
    if (first?.bank === 'acquirer' && made.length > 1) problems.push(`${key}: called ${made.length} times`);
    if (first?.bank === 'bank' && !areAskedBetween(made, calls)) problems.push(`${key}: sent again without an inquiry`);
    const cancelled = calls.find(({ kind, at }) => kind === 'cancel' && first !== undefined && overlaps(first, at));
    if (cancelled !== undefined && first !== undefined && cancelled.at < first.at + evidence.callTimeoutMs) {
      problems.push(`${key}: cancelled ${cancelled.at - first.at} ms after its call began`);
    }
  }
  return problems;
}

function areAskedBetween(made: readonly BankCall[], calls: readonly BankCall[]): boolean {
  const inquiries = calls.filter(({ kind }) => kind === 'inquiry');
  return made.every((call, index) => {
    const previous = made[index - 1];
    return previous === undefined || inquiries.some(({ at }) => at >= previous.at && at <= call.at);
  });
}

const overlaps = (call: { at: number; endedAt?: number }, at: number) =>
  at >= call.at && (call.endedAt === undefined || at < call.endedAt);

/**
 * The service checks the deadline right before it sends. On a starved machine seconds pass until our proxy, which shares
 * its CPU with twenty processes, notes the call.
 */
const ON_THE_WAY_MS = 10_000;

/** Calls for a merchant's request start before its deadline or never. */
export function nothingRunsLate(evidence: Evidence): string[] {
  const deadlines = new Map(
    documentsOf(evidence, 'edge.journal')
      .filter(({ space, operationType }) => space === 'card' && operationType !== 'SALE3D')
      .map(({ _id, deadline }) => [_id, Number(deadline)]),
  );
  return evidence.calls.flatMap(({ kind, key, at }) => {
    const deadline = deadlines.get(key);
    return kind === 'call' && deadline !== undefined && at > deadline + ON_THE_WAY_MS
      ? [`${key}: called ${at - deadline} ms after its deadline`]
      : [];
  });
}
