import { BANK_MESSAGES } from './bank-messages';
import { pain002 } from './iso20022.fixture';
import { createSchemaCheck, schemaOf } from './schema-check';

const schemaCheck = createSchemaCheck();
afterAll(() => schemaCheck.stop());

const PAIN_002 = Object.fromEntries([schemaOf('pain.002.001.12')]);
const valid = Buffer.from(pain002({ message: 'M', group: 'ACCP' }));
const invalid = Buffer.from(pain002({ message: 'M'.repeat(36), group: 'ACCP' }));
const problemOf = (xml: Buffer) => schemaCheck.problemOf(xml, PAIN_002);

it('answers concurrent calls', async () => {
  const problems = await Promise.all([problemOf(valid), problemOf(invalid), problemOf(valid)]);
  expect(problems).toEqual([undefined, expect.stringContaining('OrgnlMsgId'), undefined]);
});

it('answers a call while a worker ends', async () => {
  await problemOf(valid);
  const ending = schemaCheck.stop();
  expect(await problemOf(invalid)).toContain('OrgnlMsgId');
  await ending;
});

it('rejects waiting calls when it stops, and answers the next one', async () => {
  await problemOf(valid);
  const asked = problemOf(valid);
  const refused = expect(asked).rejects.toThrow('stopped');
  // All earlier calls are answered, so this one has begun.
  await Promise.resolve();
  await schemaCheck.stop();
  await refused;
  expect(await problemOf(valid)).toBeUndefined();
});

it('takes a document that is not read in time for a bad one, and answers the next call', async () => {
  // Shorter than a worker takes to start.
  const hasty = createSchemaCheck(0);
  expect(await hasty.read(valid, BANK_MESSAGES)).toEqual({ problem: 'not read within 0 ms' });
  expect(await hasty.problemOf(valid, PAIN_002)).toBeUndefined();
  await hasty.stop();
});
