import type { CardCommand } from '@gateway/contracts';
import { createHandle } from '@gateway/mongo';
import type { MemoryStore } from '@gateway/testing';
import { memoryStore } from '@gateway/testing';
import { REFUSALS_MAX } from '../domain/bounds';
import { decide } from '../domain/decide';
import type { Operation, Payment } from '../domain/payment';
import { evolve, findOperation } from '../domain/payment';
import { after, FACTS, NOW, PAYMENT_ID, PAYMENTS, ref, settle } from '../domain/payments.fixture';
import { announce } from './announcements';
import { recordAnswer } from './call-acquirer';
import type { Ports, StoredPayment } from './ports';
import { findOutcome, listOutcomes } from './query-operations';
import { recordOperation } from './record-operation';

const SETTLE = settle();
const OTHER = settle('AUTH', {}, 'SET2');

/** A payment with so many operations: those it has, and SETTLEs of a wrong base. */
function withOperations(payment: Payment, count: number): Payment {
  const missing = Array.from({ length: count - payment.operations.length }, (_, index) => `R${100 + index}`);
  return missing.reduce((known, name) => after(known, settle('NONE', {}, name)), payment);
}

/** Its payment has no room for refusals. */
function world(payment: Payment) {
  const first = { _id: PAYMENT_ID, ...withOperations(payment, REFUSALS_MAX), version: 1, eventSeq: 1, outbox: [] };
  const store = memoryStore<Payment>(first);
  const stored = (): StoredPayment => store.documents.get(PAYMENT_ID) ?? first;
  const alone = (reference: string) => store.documents.get(reference)?.operations;
  /** How many documents have the operation, how many handlers decided it, and how many codes they got. */
  const decisions = (reference: string, handled: Awaited<ReturnType<typeof recordOperation>>[]) => ({
    records: [...store.documents.values()].filter((document) => findOperation(document, reference)).length,
    written: handled.filter(({ written }) => written).length,
    codes: new Set(handled.map(({ payment }) => findOperation(payment, reference)?.code)).size,
  });
  return { store, stored, alone, decisions, ...replicaOn(store) };
}

function replicaOn(store: Pick<MemoryStore<Payment>, 'load' | 'insert' | 'update'>) {
  const ports = {
    payments: store,
    accounts: { find: async () => undefined },
    handle: createHandle({ store, evolve, announce, publish: () => undefined, now: () => NOW, newId: () => 'id' }),
    now: () => NOW,
  } as unknown as Ports;
  const record = (command: CardCommand) =>
    recordOperation(ports, command, (payment) => decide(payment, command, FACTS), {});
  return { ports, record };
}

/** A replica on the same store, which pauses until `resume`. */
function pausedReplica(
  store: MemoryStore<Payment>,
  pausesAt: 'after its loads' | 'before it loads the payment' | 'before its insert',
) {
  const reached = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const pauseIf = async (isReached: boolean): Promise<void> => {
    if (!isReached) return;
    reached.resolve();
    await resumed.promise;
  };
  const { record } = replicaOn({
    update: store.update,
    load: async (id) => {
      await pauseIf(pausesAt === 'before it loads the payment' && id === PAYMENT_ID);
      const found = await store.load(id);
      await pauseIf(pausesAt === 'after its loads');
      return found;
    },
    insert: async (...args) => {
      await pauseIf(pausesAt === 'before its insert');
      return store.insert(...args);
    },
  });
  return { record, paused: reached.promise, resume: resumed.resolve };
}

const DECLINED = { kind: 'declined', code: 3101, bank: {} } as const;

describe('given two replicas with the same SETTLE while a VOID is pending, which is declined', () => {
  test.each(['after its loads', 'before its insert'] as const)(
    'the first pauses %s: one decision',
    async (pausesAt) => {
      const { store, stored, ports, record, decisions } = world(PAYMENTS.voiding);
      const first = pausedReplica(store, pausesAt);
      const byFirst = first.record(SETTLE);
      await first.paused;
      await recordAnswer(ports, stored(), ref('VOID'), DECLINED);
      const bySecond = await record(SETTLE);
      first.resume();
      expect(decisions(ref('SETT'), [await byFirst, bySecond])).toEqual({ records: 1, written: 1, codes: 1 });
    },
  );

  test('one reads its own document before, and the payment after the other has refused: one decision', async () => {
    const { store, stored, ports, record, decisions } = world(PAYMENTS.voiding);
    const late = pausedReplica(store, 'before it loads the payment');
    const byLate = late.record(SETTLE);
    await late.paused;
    const byOther = await record(SETTLE);
    await recordAnswer(ports, stored(), ref('VOID'), DECLINED);
    late.resume();
    expect(decisions(ref('SETT'), [await byLate, byOther])).toEqual({ records: 1, written: 1, codes: 1 });
  });
});

describe('given a payment without room for refusals', () => {
  test('the payment decides a refusal and forgets it, and it gets a document of its own', async () => {
    const { stored, alone, record } = world(PAYMENTS.voiding);
    const before = stored();
    const { written, payment } = await record(SETTLE);
    expect(written).toBe(true);
    expect(payment).toMatchObject({ _id: ref('SETT'), operations: [{ code: 3008 }], outbox: [{}] });
    expect(alone(ref('SETT'))).toMatchObject([{ code: 3008 }]);
    expect(stored()).toEqual({ ...before, version: before.version + 2 });
  });

  describe('whose replica has died between a refusal and its document', () => {
    async function afterDeath() {
      const here = world(PAYMENTS.voiding);
      const insert = () => Promise.reject(new Error('killed'));
      await expect(replicaOn({ ...here.store, insert }).record(SETTLE)).rejects.toThrow('killed');
      expect(here.stored()).toMatchObject({ refusal: { reference: ref('SETT'), code: 3008 } });
      return here;
    }

    test('CHECK does not show the refusal', async () => {
      const { ports, stored } = await afterDeath();
      const payments = { ...ports.payments, loadWhole: async () => [stored()] };
      const listed = await listOutcomes({ ...ports, payments }, 'merchant', ref('SETT'));
      expect(listed).toHaveLength(REFUSALS_MAX);
      expect(await findOutcome(ports, 'merchant', ref('SETT'))).toBeUndefined();
    });

    test('it is forgotten if an older release, which does not see it, has accepted the operation', async () => {
      const { store, stored, alone, record } = await afterDeath();
      const { refusal, ...payment } = stored();
      const accepted = { ...(refusal as Operation), status: 'success', code: 0 } as const;
      store.documents.set(PAYMENT_ID, { ...stored(), operations: [...payment.operations, accepted] });
      await record(OTHER);
      expect(alone(ref('SETT'))).toBeUndefined();
      expect(stored()).not.toHaveProperty('refusal');
      expect(findOperation(stored(), ref('SETT'))).toEqual(accepted);
    });

    test.each([
      ['its command comes again, after the VOID was declined', SETTLE, true],
      ['another command is accepted', OTHER, true],
      ['another command is refused', OTHER, false],
    ])('it gets its document when %s', async (_when, command, isDeclined) => {
      const { ports, alone, stored, record } = await afterDeath();
      if (isDeclined) await recordAnswer(ports, stored(), ref('VOID'), DECLINED);
      await record(command);
      expect(alone(ref('SETT'))).toMatchObject([{ code: 3008 }]);
      expect(stored()).not.toHaveProperty('refusal');
      expect(findOperation(stored(), ref('SETT'))).toBeUndefined();
    });
  });
});
