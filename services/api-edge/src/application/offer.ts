import { randomUUID } from 'node:crypto';
import { isSandbox, numberLimitsOf } from '@gateway/accounts';
import type { CardRealm, Secret, TestMark } from '@gateway/contracts';
import { isTestCard, newPaymentId, newReference, paymentIdOf, realmOf, testMark } from '@gateway/contracts';
import { annotate, isRetryable } from '@gateway/service-kit';
import type { CardData } from '../domain/card-request';
import type { CardOfOperation, OperationRequest } from './commands';
import { baseReferenceOf, commandOf, cvvOf, withMaskedReference } from './commands';
import type { Account, Bus, Idempotency, Insertion, JournalEntry, LateEntry, OperationEntry, Ports } from './ports';
import { repeatUntil } from './repeat-until';

const REFERENCE_ATTEMPTS_MAX = 3;
const PUBLISH_AGAIN_AFTER_MS = 1_000;
const REFERENCE = /^[0-9A-Z]{20}$/;

/** The result of offering an entry to the journal. `refused`: its id or key is already used. */
export type Offered<Entry extends JournalEntry> =
  { readonly kind: 'accepted' | 'refused' | 'unknown'; readonly entry: Entry } | { readonly kind: 'unavailable' };

/**
 * Prepares an entry and inserts it into the journal, with another reference if its own is taken. A fault before the
 * first insert means that nothing happened (`unavailable`). From then on the insert is repeated until the request's
 * deadline. Only then is the outcome `unknown`, and the entry that `late` makes is recorded afterwards. An insert may
 * still land then, so a payout is confirmed once its insert has succeeded in time.
 */
export async function offer<Entry extends JournalEntry>(
  ports: Ports,
  prepare: () => Promise<Entry>,
  late: (entry: Entry) => LateEntry | undefined = (entry) => ({ entry }),
): Promise<Offered<Entry>> {
  const deadline = ports.now() + ports.replyTimeoutMs;
  for (let attempts = 0; attempts < REFERENCE_ATTEMPTS_MAX; attempts += 1) {
    const entry = await prepared(ports, prepare);
    if (entry === undefined) return { kind: 'unavailable' };
    annotate({ 'gateway.reference': entry.reference });
    const attempt = { inserts: 0, inserted: false };
    try {
      const insertion = await insertUntil(ports, entry, deadline, attempt);
      if (insertion === 'inserted') {
        attempt.inserted = true;
        countRecord(ports, entry);
        await confirmUntil(ports, entry, deadline);
        return { kind: 'accepted', entry };
      }
      await dropCvv(ports, entry);
      if (insertion !== 'reference-taken') return { kind: 'refused', entry };
    } catch (error) {
      // The only insert was refused, so nothing happened.
      if (attempt.inserts === 1 && !attempt.inserted && ports.isDiskFull(error)) return { kind: 'unavailable' };
      ports.logger.error('an outcome is unknown', { reference: entry.reference, error });
      const lateEntry = late(entry);
      if (lateEntry !== undefined) ports.late.add(lateEntry);
      if (!attempt.inserted) countRecord(ports, entry);
      return { kind: 'unknown', entry };
    }
  }
  throw new Error(`${REFERENCE_ATTEMPTS_MAX} random references were taken already`);
}

/** Also what may not be on record yet. */
function countRecord({ sandbox }: Ports, { isTest, merchantAccount }: JournalEntry): void {
  if (isTest === true) sandbox.count(merchantAccount);
}

/** From the second attempt on, an insert may find an earlier one that succeeded without an answer. */
function insertUntil(
  ports: Ports,
  entry: JournalEntry,
  deadline: number,
  attempt: { inserts: number },
): Promise<Insertion> {
  return repeatUntil(ports, deadline, 'a journal insert', () => {
    attempt.inserts += 1;
    return attempt.inserts === 1 ? ports.journal.insert(entry) : ports.journal.insertAgain(entry);
  });
}

/** Never after the deadline: by then the merchant has got 11, and may have sent another payout. */
async function confirmUntil(ports: Ports, entry: JournalEntry, deadline: number): Promise<void> {
  if (entry.unconfirmed !== true) return;
  const confirmed = await repeatUntil(ports, deadline, 'confirming a payout', () => ports.journal.confirm(entry));
  if (!confirmed) throw new Error('a sweeper has abandoned the payout');
}

async function prepared<Entry>(ports: Ports, prepare: () => Promise<Entry>): Promise<Entry | undefined> {
  try {
    return ports.databaseAvailable() && ports.bus.available() ? await prepare() : undefined;
  } catch (error) {
    ports.logger.error('a request could not be journalled', { error });
    return undefined;
  }
}

/** No operation will read it. If this fails, it expires after 20 minutes; the journal's answer counts all the same. */
async function dropCvv(ports: Ports, { command, reference }: JournalEntry): Promise<void> {
  if (command === undefined || !('withCvv' in command.data) || !command.data.withCvv) return;
  try {
    await ports.vault.dropCvv(reference);
  } catch (error) {
    ports.logger.warn('an unused security code was not deleted; it expires by itself', { reference, error });
  }
}

export interface Operation {
  merchantAccount: string;
  request: OperationRequest;
  /** What it is unless it follows a payment, which says it then. */
  isTest: boolean;
  idempotency?: Idempotency | undefined;
  /** The number of this attempt on a card-entry page, the page's payment, and the browser's address. */
  attempt?: { n: number; paymentId: string; browserIp: string };
}

/** Allots the reference and stores card data in the vault: everything before the journal. */
export async function prepareOperation(ports: Ports, operation: Operation): Promise<OperationEntry> {
  const { merchantAccount, request, idempotency, attempt } = operation;
  const acceptedAt = ports.now();
  const deadline = acceptedAt + ports.replyTimeoutMs;
  const base = await baseOf(ports, operation, deadline);
  const ownPaymentId = attempt?.paymentId ?? base?.paymentId;
  const paymentId = ownPaymentId ?? newPaymentId(ports.randomBytes);
  const mark = base === undefined ? testMark(operation.isTest) : testMark(base.isTest);
  const reference = newReference(paymentId, ports.randomBytes);
  // A request that is refused because its CVV cannot be stored must not leave its card behind.
  if (cvvOf(request) !== undefined) await ports.vault.requireCvvKey();
  const [card] = await repeatUntil(ports, deadline, 'a write to the vault', () =>
    Promise.all([putCard(ports, merchantAccount, request), putCvv(ports, reference, request)]),
  );
  // A reference that names no payment of the account is only recorded, and may be anything.
  const kept = ownPaymentId === undefined ? withMaskedReference(request) : request;
  const baseReference = baseReferenceOf(kept);
  const accepted = { paymentId, reference, merchantAccount, acceptedAt, deadline, card, ...mark };
  return {
    reference,
    paymentId,
    ...(baseReference === undefined ? {} : { baseReference }),
    merchantAccount,
    space: 'card',
    transactionUniqueId: request.transactionUniqueId,
    operationType: request.transactionType,
    ...(attempt === undefined ? {} : { attempt: attempt.n }),
    ...(card === undefined || card.overLimit !== undefined ? {} : { token: card.token }),
    acceptedAt,
    deadline,
    ...mark,
    command: commandOf(kept, { ...accepted, attempt }),
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}

/** The payment of the base transaction; undefined if there is none, or it is unknown or another merchant's. */
async function baseOf(
  ports: Ports,
  { merchantAccount, request, isTest }: Operation,
  deadline: number,
): Promise<({ paymentId: string } & TestMark) | undefined> {
  const baseReference = baseReferenceOf(request);
  if (baseReference === undefined) return undefined;
  const own = await repeatUntil(ports, deadline, 'a look for a payment', async () => {
    const mark = await ports.journal.paymentOf(merchantAccount, baseReference);
    return mark ?? (isTest ? longHeld(ports, merchantAccount, baseReference) : undefined);
  });
  return own && { paymentId: paymentIdOf(baseReference), ...own };
}

/** A hold in the test currency may last longer than the journal keeps its AUTH. Its owner has it then. */
async function longHeld(ports: Ports, merchantAccount: string, reference: string): Promise<TestMark | undefined> {
  if (!REFERENCE.test(reference)) return undefined;
  const outcome = await ports.queries.outcome(merchantAccount, reference);
  return outcome && testMark(true);
}

async function putCard(
  ports: Ports,
  merchantAccount: string,
  request: OperationRequest,
): Promise<CardOfOperation | undefined> {
  const sent = cardSentIn(request);
  if (sent === undefined || 'token' in sent) return sent;
  const { card } = sent;
  const account = await ports.accounts.find(merchantAccount);
  if (account === undefined) throw new Error(`there is no account ${merchantAccount}`);
  const realm = 'currency' in request ? realmOf(request.currency) : realmOfTokenize(account, card);
  const put = await ports.vault.putCard({ merchantAccount, realm }, card, numberLimitsOf(account));
  if ('token' in put) return put;
  const { limit, bin, first } = put.overLimit;
  if (first) {
    ports.logger.warn('an account has sent all the card numbers that it may today; others are declined', {
      ...{ merchantAccount, realm, limit },
      ...(limit === 'perBin' ? { bin } : {}),
    });
  }
  return { token: randomUUID(), overLimit: limit };
}

function cardSentIn(request: OperationRequest): { card: Secret<CardData> } | { token: string } | undefined {
  if (request.transactionType === 'TOKENIZE') return { card: request.card };
  if (!('instrument' in request)) return undefined;
  const { instrument } = request;
  return instrument.kind === 'token' ? { token: instrument.token } : { card: instrument.card };
}

/** A TOKENIZE names no currency. A test card is of no use outside XTS. */
function realmOfTokenize(account: Account, card: Secret<CardData>): CardRealm {
  return isSandbox(account) || isTestCard(card.expose().pan) ? 'test' : 'real';
}

async function putCvv(ports: Ports, reference: string, request: OperationRequest): Promise<void> {
  const cvv = cvvOf(request);
  if (cvv !== undefined) await ports.vault.putCvv(reference, cvv);
}

/** The bus may come back: the command is published again until its deadline. Publishing twice has one effect. */
export async function publishUntilDeadline<Command>(
  ports: Pick<Ports, 'now' | 'logger'> & { bus: Bus<Command> },
  entry: { reference: string; deadline: number; command?: Command },
): Promise<void> {
  const { command } = entry;
  while (command !== undefined && ports.now() < entry.deadline) {
    try {
      return await ports.bus.publish(command);
    } catch (error) {
      ports.logger.warn('a command is not published yet', { reference: entry.reference, error });
      if (!isRetryable(error)) return;
      await new Promise((resolve) => setTimeout(resolve, PUBLISH_AGAIN_AFTER_MS));
    }
  }
}
