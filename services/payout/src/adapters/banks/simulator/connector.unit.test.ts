import { openCalled } from '@gateway/testing';
import { exampleCalls } from './example-answers.fixture';

const counterpart = openCalled(exampleCalls);
afterAll(() => counterpart.close());

const submitted = (json: string) => counterpart.answering(json, 'submission');
const inquired = (json: string) => counterpart.answering(json, 'inquiry');

describe.each([
  ['declined', 3101, 3100],
  ['frauded', 3202, 3200],
  ['failed', 3310, 3300],
])('%s', (kind, own, general) => {
  test('has the code of the bank', async () => {
    expect(await submitted(`{"result":"${kind}","code":${own}}`)).toEqual({ kind, code: own, bank: {} });
  });

  test.each(['0', 'null', '""', '[]', '11', '3109', '2001', '{"valueOf":1}'])(
    'keeps its kind with the code %s, which is none of it',
    async (code) => {
      expect(await submitted(`{"result":"${kind}","code":${code}}`)).toEqual({ kind, code: general, bank: {} });
      expect(await inquired(`{"status":"${kind}","code":${code}}`)).toEqual({ kind, code: general, bank: {} });
    },
  );
});

test('an answer that two readers read in two ways is none', async () => {
  expect(await submitted('{"result":"declined","result":"settled"}')).toEqual({ kind: 'unknown', code: 3117 });
  expect(await inquired('{"status":"declined","status":"settled"}')).toEqual({ kind: 'unknown' });
});

test('words of the bank that are too long to keep are left out', async () => {
  const long = 'x'.repeat(100_000);
  const json = JSON.stringify({ status: 'settled', transactionId: long, bank: { advice: long, id: '7', name: long } });
  expect(await inquired(json)).toEqual({ kind: 'settled', bank: { id: '7' } });
});
