import { pain002 } from './iso20022.fixture';
import { createSchemaCheck, PAIN_002 } from './schema-check';

const schemaCheck = createSchemaCheck();
afterAll(() => schemaCheck.stop());

const valid = Buffer.from(pain002({ message: 'M', group: 'ACCP' }));
const invalid = Buffer.from(pain002({ message: 'M'.repeat(36), group: 'ACCP' }));
const problemOf = (xml: Buffer) => schemaCheck.problemOf(xml, PAIN_002);

it('answers each of those who ask at once', async () => {
  const problems = await Promise.all([problemOf(valid), problemOf(invalid), problemOf(valid)]);
  expect(problems).toEqual([undefined, expect.stringContaining('OrgnlMsgId'), undefined]);
});

it('answers who asks while a worker ends', async () => {
  await problemOf(valid);
  const ending = schemaCheck.stop();
  expect(await problemOf(invalid)).toContain('OrgnlMsgId');
  await ending;
});

it('says that it is stopped to who waits, and answers the next one', async () => {
  await problemOf(valid);
  const asked = problemOf(valid);
  const refused = expect(asked).rejects.toThrow('stopped');
  // The question is put once those before it are answered, which they are.
  await Promise.resolve();
  await schemaCheck.stop();
  await refused;
  expect(await problemOf(valid)).toBeUndefined();
});
