import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import type { StatusReport } from '../../../domain/iso20022/status-report';
import type { TakeNews } from './apply-reading';
import { applyReport } from './apply-report';
import { openRecords } from './records';

let mongo: MongoConnection;
beforeAll(async () => {
  const database = `iso20022-${randomBytes(4).toString('hex')}`;
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});
beforeEach(() => openRecords(mongo).members.deleteMany({}));

/** More than one fetch returns. */
const REFERENCES = Array.from({ length: 80 }, (_, index) => `R${String(index).padStart(2, '0')}`);

/** Applies a report that settles these transfers. */
async function apply(references: readonly string[], take: TakeNews): Promise<string[]> {
  const { members } = openRecords(mongo);
  await members.insertMany(REFERENCES.map((_id) => ({ _id, state: 'sent', since: 0, batch: 'M1' })));
  const transactions = references.map((endToEndId) => ({ endToEndId, status: 'ACSC', reasons: [] }));
  const report: StatusReport = {
    messageId: 'REPORT-1',
    originalMessageId: 'M1',
    group: { reasons: [] },
    payments: [{ reasons: [], transactions }],
  };
  return applyReport(report, {
    members,
    take,
    settledBy: 'either',
    writtenAgain: false,
    accepted: false,
    now: Date.now,
    beforeEach: () => Promise.resolve(),
  });
}

const aRoundTrip = () => openRecords(mongo).members.countDocuments();

it('finishes every started call of `take` before it gives up', async () => {
  const begun: string[] = [];
  const ended: string[] = [];
  const applied = apply(REFERENCES, async ({ reference }) => {
    begun.push(reference);
    if (reference === 'R01') throw new Error('away');
    await aRoundTrip();
    ended.push(reference);
    return 'applied';
  });
  await expect(applied).rejects.toThrow('away');
  expect(ended.toSorted()).toEqual(begun.filter((reference) => reference !== 'R01').toSorted());
  expect(begun).not.toContain('R79');
});

it('finishes every started call of `take` when the next fetch fails', async () => {
  const begun: string[] = [];
  const ended: string[] = [];
  const dropped = Promise.withResolvers<void>();
  // One transfer fewer, so that fewer calls than the bound are running when the next fetch begins.
  const applied = apply(REFERENCES.slice(1), async ({ reference }) => {
    begun.push(reference);
    if (reference === 'R01') dropped.resolve(openRecords(mongo).members.drop().then());
    await dropped.promise;
    await aRoundTrip();
    ended.push(reference);
    return 'applied';
  });
  await expect(applied).rejects.toThrow(/drop|cursor/i);
  expect(ended.toSorted()).toEqual(begun.toSorted());
});
