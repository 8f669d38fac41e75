import { isRetryable } from './errors';
import { untilWritten } from './until-written';

test('retries until a write succeeds, and counts the conflicts', async () => {
  const lost: number[] = [];
  const written = await untilWritten(async (before) => {
    lost.push(before);
    return before === 2 ? 'written' : undefined;
  });
  expect([written, lost]).toEqual(['written', [0, 1, 2]]);
});

test('after five conflicts the whole work may be retried', async () => {
  let attempts = 0;
  const given = await untilWritten(async () => void (attempts += 1)).catch((error: unknown) => error);
  expect([isRetryable(given), attempts]).toEqual([true, 5]);
});
