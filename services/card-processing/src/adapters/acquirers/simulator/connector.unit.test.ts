import { openCalled } from '@gateway/testing';
import { exampleCalls } from './example-answers.fixture';

const counterpart = openCalled(exampleCalls);
afterAll(() => counterpart.close());

const operated = (json: string) => counterpart.answering(json, 'operation');
const inquired = (json: string) => counterpart.answering(json, 'inquiry');
const cancelled = (json: string) => counterpart.answering(json, 'cancellation');

test.each(['3101', '"3101"'])('a decline has the code %s of the bank', async (code) => {
  expect(await operated(`{"result":"declined","code":${code}}`)).toMatchObject({ code: 3101 });
});

test.each([
  '0',
  'null',
  '""',
  '[]',
  'false',
  '11',
  '3109',
  '2001',
  '3300',
  '[3101]',
  '"0xc1d"',
  '" 3101"',
  '{"valueOf":1}',
])('a decline with the code %s, which is none of a decline, is a decline', async (code) => {
  const declined = { kind: 'declined', code: 3100, bank: {} };
  expect(await operated(`{"result":"declined","code":${code}}`)).toEqual(declined);
  expect(await inquired(`{"status":"declined","code":${code}}`)).toEqual(declined);
  expect(await cancelled(`{"status":"already_processed","result":"declined","code":${code}}`)).toEqual(declined);
});

test.each(['result', '\\u0072esult'])('an answer that two readers read in two ways is none: %s', async (result) => {
  expect(await operated(`{"code":3101,"result":"declined","${result}":"approved"}`)).toMatchObject({ code: 3117 });
  expect(await inquired('{"code":3101,"status":"declined","status":"approved"}')).toEqual({ kind: 'unknown' });
  const twice = `{"status":"already_processed","result":"declined","${result}":"approved"}`;
  expect(await cancelled(twice)).toEqual({ kind: 'unknown' });
});
