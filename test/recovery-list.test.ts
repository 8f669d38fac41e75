import { paymentIdOf } from '@gateway/contracts';
import type { MongoConnection, StoredProgress } from '@gateway/mongo';
import { connectMongo, PROGRESS } from '@gateway/mongo';
import type { TestCallers } from '@gateway/testing';
import { createCallers, until } from '@gateway/testing';
import { runRecovery } from '../deploy/operations/src/recovery';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, clientOf, recordsOf, startSystem } from './support/system';

type Row = Record<string, unknown> & { _id: string };

let system: System;
let callers: TestCallers;
let [cards, expiry]: MongoConnection[] = [];
let ops: number;

beforeAll(async () => {
  system = await startSystem('recovery-list');
  callers = createCallers();
  ops = (await system.startExpiry()).ports.ops;
  const { mongoUri: uri, databasePrefix } = system.space;
  [cards, expiry] = await Promise.all(
    ['cards', 'expiry'].map((name) => connectMongo({ uri, database: databasePrefix + name })),
  );
}, 60_000);
afterAll(async () => {
  await cards?.close();
  await expiry?.close();
  await system.stop();
  callers.remove();
});

const rows = (mongo: MongoConnection | undefined, name: string) => mongo!.collection<Row>(name);

/** Returns the reference of an AUTH whose deadline is on record. */
async function authorize(): Promise<string> {
  const reference = String((await system.send(cardRequest('AUTH'))).data['reference']);
  await until('the deadline', () => rows(expiry, 'deadlines').findOne({ _id: reference }));
  return reference;
}

async function recovery(...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  const operator = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('operator') };
  expect([await runRecovery(args, { ...system.env, ...operator }, (line) => void lines.push(line)), lines]).toEqual([
    0,
    lines,
  ]);
  return lines;
}

const ready = async () => (await clientOf(ops).get<Body>('/health/ready')).data;

test('holds that nobody will void are listed, and those whose end waits', async () => {
  await authorize();
  const [withoutDeadline, ended] = [await authorize(), await authorize()];
  const [withoutPayment, due] = [await authorize(), await authorize()];
  expect(await ready()).toMatchObject({ ready: true, mode: 'ordinary' });
  await expiry!
    .collection<StoredProgress>(PROGRESS)
    .updateOne({ _id: 'progress' }, { $set: { recovery: { noticedAt: Date.now(), ranges: [] } } });
  await until('the service is in recovery', async () => (await ready())['mode'] === 'recovery');
  expect(await ready()).toMatchObject({ ready: true });

  const past = Date.now() - 1_000;
  await rows(expiry, 'deadlines').deleteOne({ _id: withoutDeadline });
  await rows(expiry, 'deadlines').updateOne({ _id: ended }, { $unset: { dueAt: 1 }, $set: { endedAt: new Date() } });
  await rows(cards, 'payments').deleteOne({ _id: paymentIdOf(withoutPayment) });
  await rows(cards, 'payments').updateOne({ _id: paymentIdOf(due) }, { $set: { 'state.hold.expiresAt': past } });
  await rows(expiry, 'deadlines').updateOne({ _id: due }, { $set: { expiresAt: past, dueAt: past } });
  const lines = await recovery('list');
  expect(lines.map((line) => line.replace(/\d{4}-\S+Z/, 'TIME')).sort()).toEqual(
    [
      `HOLD  ${withoutDeadline}  abandoned, until TIME, without a deadline`,
      `HOLD  ${ended}  abandoned, until TIME, without a deadline`,
      `HOLD  ${withoutPayment}  abandoned, until TIME, without a payment`,
      `HOLD  ${due}  due, ended TIME, not voided yet`,
      '0 without a known outcome, 3 abandoned holds, 1 due to be voided',
    ].sort(),
  );
  expect(await system.ledger(due)).toHaveLength(1);

  await recovery('end', '--reason', 'restored');
  await until('the hold is voided', async () =>
    recordsOf((await system.send(checkOf({ reference: due }))).data).some(
      ({ transaction_type, status }) => transaction_type === 'VOID' && status === 'SUCCESS',
    ),
  );
  expect(await ready()).toMatchObject({ ready: true, mode: 'ordinary' });
}, 60_000);
