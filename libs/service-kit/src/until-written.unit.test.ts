import { isRetryable } from './errors';
import { untilWritten } from './until-written';

test('attempts go on until one has written, and know how many were lost', async () => {
  const lost: number[] = [];
  const written = await untilWritten(async (before) => {
    lost.push(before);
    return before === 2 ? 'written' : undefined;
  });
  expect([written, lost]).toEqual(['written', [0, 1, 2]]);
});

test('after five in vain the whole work may come again', async () => {
  let attempts = 0;
  const given = await untilWritten(async () => void (attempts += 1)).catch((error: unknown) => error);
  expect([isRetryable(given), attempts]).toEqual([true, 5]);
});
