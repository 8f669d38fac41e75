import { paymentIdOf } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';

/** A hold that needs an operator, or whose end waits for one. */
export interface ListedHold {
  /** Of the AUTH. */
  readonly reference: string;
  /** `due`: its end waits for the end of the recovery. `abandoned`: nobody will void it. */
  readonly kind: 'due' | 'abandoned';
  readonly state: string;
}

/** What is read of a payment at card-processing. */
interface StoredPayment {
  _id: string;
  state: { kind: string; hold?: { reference: string; expiresAt: number } };
}

/** What is read of a deadline at auth-expiry. An open one has `dueAt`. */
interface StoredDeadline {
  _id: string;
  expiresAt?: number;
  dueAt?: number;
}

const KINDS = ['abandoned', 'due'] as const;
const BATCH = 500;
const projection = { 'state.kind': 1, 'state.hold.reference': 1, 'state.hold.expiresAt': 1 };

/**
 * Compares the open holds of card-processing with the open deadlines of auth-expiry. One of the two may have lost what the
 * other has: a hold without a deadline, or a deadline without a payment, is voided by nobody.
 *
 * @param max of each kind
 */
export async function holdsIn(
  { cards, expiry }: { cards: MongoConnection; expiry: MongoConnection },
  { now, max }: { now: number; max: number },
): Promise<ListedHold[]> {
  const payments = cards.collection<StoredPayment>('payments');
  const deadlines = expiry.collection<StoredDeadline>('deadlines');

  async function judgeDeadlines(open: readonly StoredDeadline[]): Promise<ListedHold[]> {
    const ids = open.map(({ _id }) => paymentIdOf(_id));
    const found = await payments.find({ _id: { $in: ids } }, { projection }).toArray();
    const byId = new Map(found.map((payment) => [payment._id, payment]));
    return open.flatMap(({ _id: reference, expiresAt }): ListedHold[] => {
      const payment = byId.get(paymentIdOf(reference));
      const end = timeOf(expiresAt);
      if (payment === undefined) return [{ reference, kind: 'abandoned', state: `until ${end}, without a payment` }];
      if (payment.state.kind !== 'authorized' || expiresAt === undefined || expiresAt > now) return [];
      return [{ reference, kind: 'due', state: `ended ${end}, not voided yet` }];
    });
  }

  async function judgeHolds(open: readonly StoredPayment[]): Promise<ListedHold[]> {
    const ids = open.flatMap(({ state: { hold } }) => (hold === undefined ? [] : [hold.reference]));
    const filter = { _id: { $in: ids }, dueAt: { $gte: 0 } };
    const found = await deadlines.find(filter, { projection: { _id: 1 } }).toArray();
    const known = new Set(found.map(({ _id }) => _id));
    return open.flatMap(({ state: { hold } }): ListedHold[] =>
      hold === undefined || known.has(hold.reference)
        ? []
        : [
            {
              reference: hold.reference,
              kind: 'abandoned',
              state: `until ${timeOf(hold.expiresAt)}, without a deadline`,
            },
          ],
    );
  }

  const openDeadlines = deadlines.find({ dueAt: { $gte: 0 } }, { sort: { dueAt: 1 } });
  const openHolds = payments.find({ 'state.kind': 'authorized' }, { projection });
  const ofHolds = await judged(openHolds, judgeHolds, { max, kinds: ['abandoned'] });
  const ofDeadlines = await judged(openDeadlines, judgeDeadlines, { max, kinds: ['abandoned', 'due'] });
  const found = [...ofHolds, ...ofDeadlines];
  return KINDS.flatMap((kind) => found.filter((one) => one.kind === kind).slice(0, max));
}

/** In batches, until `max` of each kind are found: many of one kind must not hide the other. */
async function judged<Stored>(
  documents: AsyncIterable<Stored>,
  judge: (batch: readonly Stored[]) => Promise<ListedHold[]>,
  { max, kinds }: { max: number; kinds: readonly ListedHold['kind'][] },
): Promise<ListedHold[]> {
  const found = new Map(kinds.map((kind) => [kind, [] as ListedHold[]]));
  const keep = (some: readonly ListedHold[]): void => {
    for (const one of some) if ((found.get(one.kind)?.length ?? max) < max) found.get(one.kind)?.push(one);
  };
  let batch: Stored[] = [];
  for await (const document of documents) {
    batch.push(document);
    if (batch.length < BATCH) continue;
    keep(await judge(batch));
    batch = [];
    if ([...found.values()].every((some) => some.length >= max)) break;
  }
  if (batch.length > 0) keep(await judge(batch));
  return [...found.values()].flat();
}

function timeOf(at: number | undefined): string {
  return at === undefined ? 'an unknown time' : new Date(at).toISOString();
}
