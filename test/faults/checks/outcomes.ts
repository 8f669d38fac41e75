import type { Evidence, Observation, SentOperation } from '../model/evidence';
import { documentsOf, PENDING } from '../model/evidence';

/** All reported final outcomes of an operation are equal, and none turns back into PENDING. */
export function terminalStatesStay({ observations }: Evidence): string[] {
  const problems: string[] = [];
  for (const [reference, reports] of byReference(observations)) {
    const final = reports.filter(({ status }) => status !== PENDING).sort((a, b) => a.toldAt - b.toldAt);
    const [first] = final;
    if (first === undefined) continue;
    const other = final.find(({ status, code }) => status !== first.status || code !== first.code);
    if (other !== undefined) problems.push(`${reference}: ${say(first)}, then ${say(other)}`);
    // Events carry the time of a clock that the suite may have shifted.
    const knownAt = final.find(({ source }) => source !== 'event')?.toldAt ?? Infinity;
    const back = reports.find(({ status, askedAt }) => status === PENDING && askedAt >= knownAt);
    if (back !== undefined) problems.push(`${reference}: ${say(first)}, then ${say(back)}`);
  }
  return problems;
}

/** The last CHECK of an operation and its store show a final outcome. */
export function everyPendingEnds({ observations }: Evidence): string[] {
  const problems: string[] = [];
  for (const [reference, reports] of byReference(observations)) {
    for (const source of ['check', 'store'] as const) {
      const last = reports
        .filter((one) => one.source === source)
        .sort((a, b) => a.askedAt - b.askedAt)
        .at(-1);
      if (last?.status === PENDING) problems.push(`${reference}: ${say(last)} at the end`);
    }
  }
  return problems;
}

/**
 * CHECK finds every accepted request: those whose answer has a reference, and those in the journal. CHECK may deny a
 * request before its acceptance.
 */
export function checkKnowsWhatWasAccepted(evidence: Evidence): string[] {
  const acceptedAt = acceptances(evidence);
  return evidence.denials.flatMap(({ merchant, uniqueId, askedAt }) => {
    const accepted = acceptedAt.get(`${merchant} ${uniqueId}`);
    return accepted !== undefined && accepted <= askedAt
      ? [`${merchant} ${uniqueId}: accepted ${askedAt - accepted} ms before CHECK said 3014`]
      : [];
  });
}

/** When each request was known to be accepted, by answer or journal. Keys are merchant and unique id. */
function acceptances(evidence: Evidence): Map<string, number> {
  const accepted = new Map<string, number>();
  const note = (key: string, at: number) => accepted.set(key, Math.min(at, accepted.get(key) ?? Infinity));
  for (const operation of evidence.operations) {
    if (operation.reference === undefined) continue;
    for (const { httpStatus, endedAt, code } of operation.attempts) {
      if (httpStatus === 200 && code !== ID_USED) note(keyOf(operation), endedAt);
    }
  }
  for (const entry of documentsOf(evidence, 'edge.journal')) {
    const { merchantAccount, transactionUniqueId } = entry;
    note(`${String(merchantAccount)} ${String(transactionUniqueId)}`, journalledBy(evidence, entry));
  }
  return accepted;
}

const ID_USED = 3001;

/** The edge retries the insert until the request's deadline, even after its merchant has disconnected. */
function journalledBy({ operations, collectedAt }: Evidence, entry: Record<string, unknown>): number {
  const sent = operations.find(
    ({ merchant, uniqueId }) => merchant === entry['merchantAccount'] && uniqueId === entry['transactionUniqueId'],
  );
  const last = sent?.attempts.at(-1);
  const patienceMs = Number(entry['deadline']) - Number(entry['acceptedAt']);
  return last === undefined ? collectedAt : Math.max(last.endedAt, last.sentAt + patienceMs);
}

const keyOf = ({ merchant, uniqueId }: SentOperation) => `${merchant} ${uniqueId}`;

/** A request whose every attempt got 503 or 429 is not in the journal. */
export function refusedRequestsDidNothing(evidence: Evidence): string[] {
  const journalled = new Set(
    documentsOf(evidence, 'edge.journal').map(
      ({ merchantAccount, transactionUniqueId }) => `${String(merchantAccount)} ${String(transactionUniqueId)}`,
    ),
  );
  return evidence.operations
    .filter(({ attempts }) => attempts.length > 0 && attempts.every(({ httpStatus }) => isRefusal(httpStatus)))
    .filter((operation) => journalled.has(keyOf(operation)))
    .map((operation) => `${keyOf(operation)}: refused, and in the journal`);
}

const isRefusal = (httpStatus: number | undefined) => httpStatus === 503 || httpStatus === 429;

export function byReference(observations: readonly Observation[]): Map<string, Observation[]> {
  return Map.groupBy(observations, ({ reference }) => reference);
}

function say({ source, type, status, code }: Observation): string {
  return `${source} says ${type} ${status} ${code}`;
}
