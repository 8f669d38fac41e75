import { ExpireAuthorization } from '@gateway/contracts';
import { on } from '@gateway/messaging';
import type { StoredProgress } from '@gateway/mongo';
import { connectMongo, stillToReplay } from '@gateway/mongo';
import type { CommonConfig } from '@gateway/service-kit';
import type { Frame } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Space } from '@gateway/testing';
import { failTest, openSpace, until } from '@gateway/testing';
import { framedDeps } from './framed-fixture';

const _id = 'progress';
const TIMEOUT_MS = 60_000;

let space: Space;
let frame: Frame<CommonConfig>;
/** The reference of each message handled, and whether it may have been handled before. */
let handled: [string, boolean][];
beforeEach(async () => {
  space = await openSpace('recovery');
  handled = [];
});
afterEach(() => space.remove());

function newService(onFatal: (error: Error) => void = failTest) {
  return createFramedService({
    service: {
      name: 'framed',
      database: 'expiry',
      consumes: ['cardExpiries'],
      produces: ['cardExpiries'],
      readsLostAgain: true,
      shares: {},
    },
    deps: framedDeps(space, onFatal),
    async open(opened: Frame<CommonConfig>) {
      frame = opened;
      const handler = on(ExpireAuthorization, async (envelope) => {
        handled.push([envelope.data.reference.slice(-1), frame.recovery.mayHaveBeenHandled(envelope.data.expiresAt)]);
      });
      return { worker: { handlers: [handler] } };
    },
  });
}

async function publish(...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await frame.publisher.publish(message(number));
}
function message(number: number) {
  const paymentId = 'PAYMENT000000000';
  return {
    declaration: ExpireAuthorization,
    data: {
      paymentId,
      merchantAccount: 'merchant',
      reference: `${paymentId}000${number}`,
      expiresAt: frame.clock.now(),
    },
    key: paymentId,
  } as never;
}

const progress = () => frame.mongo.collection<StoredProgress>('progress');
async function stored(): Promise<StoredProgress> {
  const found = await progress().findOne({ _id });
  if (found === null) throw new Error('there is no progress');
  return found;
}
const numberOf = ({ offsets }: StoredProgress): number =>
  Object.values(offsets['cardExpiries'] ?? {}).reduce((sum, offset) => sum + offset, 0);
const untilSaved = (count: number) =>
  until('the offsets are on record', async () => numberOf(await stored()) === count);

/** Puts back an older copy of the database while the service is stopped. */
async function restore(copy: StoredProgress): Promise<void> {
  const mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}expiry` });
  await mongo.collection<StoredProgress>('progress').replaceOne({ _id }, copy);
  await mongo.close();
}

test(
  'a restored database gets again exactly what came after its copy, and knows what may have been handled',
  async () => {
    const service = newService();
    await service.start();
    await publish(1, 2, 3);
    await untilSaved(3);
    const copy = await stored();
    await publish(4, 5);
    await untilSaved(5);
    await service.stop();
    await restore(copy);

    handled = [];
    const again = newService();
    await again.start();
    expect(frame.recovery.current()).toMatchObject({ ranges: [{ older: 'database', from: 3, to: 5 }] });
    await until('both came again', () => handled.length === 2);
    await publish(6);
    await until('the new one came', () => handled.length === 3);
    expect(handled).toEqual([
      ['4', true],
      ['5', true],
      ['6', false],
    ]);
    await untilSaved(6);
    expect(stillToReplay(await stored())).toBe(0);
    await again.stop();

    // A restart goes on in the same recovery, and replays nothing.
    const later = newService();
    await later.start();
    expect(frame.recovery.current()?.ranges).toHaveLength(1);
    await publish(7);
    await until('only the new one came', () => handled.length === 4);
    await progress().updateOne({ _id }, { $unset: { recovery: 1 } });
    await until('the service notices the end', () => frame.recovery.current() === undefined);
    await later.stop();
  },
  TIMEOUT_MS,
);

test(
  'an ordinary restart, and a commit of an earlier release, are no restore',
  async () => {
    const service = newService();
    await service.start();
    await publish(1, 2);
    await untilSaved(2);
    const copy = await stored();
    await service.stop();
    const group = `${space.topicPrefix}framed`;
    const topic = `${space.topicPrefix}card.expiries.v1`;
    const admin = frame.kafka.admin();
    await admin.connect();
    const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const partitions = (committed?.partitions ?? []).filter(({ offset }) => Number(offset) > 0);
    // Without metadata, as releases before this one commit.
    await admin.setOffsets({
      groupId: group,
      topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    });
    await admin.disconnect();
    await restore({ ...copy, offsets: {} });
    const again = newService();
    await again.start();
    expect(frame.recovery.current()).toBeUndefined();
    await again.stop();
  },
  TIMEOUT_MS,
);

test(
  'what Kafka has lost is noticed, and what comes later is handled',
  async () => {
    const service = newService();
    await service.start();
    await publish(1);
    await untilSaved(1);
    const copy = await stored();
    await service.stop();
    const [partition = '0'] = Object.keys(copy.offsets['cardExpiries'] ?? {});
    await restore({ ...copy, offsets: { cardExpiries: { [partition]: 10 } } });
    const again = newService();
    await again.start();
    expect(frame.recovery.current()).toMatchObject({ ranges: [{ older: 'kafka', from: 1, to: 10 }] });
    await publish(2);
    await untilSaved(2);
    await again.stop();
  },
  TIMEOUT_MS,
);

test(
  'a database that is replaced under a running service ends the process, and keeps its offsets',
  async () => {
    const failures: Error[] = [];
    const service = newService((error) => failures.push(error));
    await service.start();
    await publish(1);
    await untilSaved(1);
    const copy = await stored();
    await publish(2);
    await untilSaved(2);
    await restore(copy);
    await until('the service ends', () => failures.length > 0);
    expect(failures[0]?.message).toContain('replaced');
    expect(await stored()).toEqual(copy);
    await service.stop();
  },
  TIMEOUT_MS,
);
