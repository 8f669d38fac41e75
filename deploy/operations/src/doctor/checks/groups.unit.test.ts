import { delaysOf } from './groups';

test.each([
  ['nothing waits, and nobody measures', 0, [], []],
  ['messages wait, but not for long', 7, [3, 60], []],
  ['one replica knows of an old message', 7, [3, 61.9], [/^A message of payout has waited for 61 s, and 7 wait: /]],
  ['messages wait, and nobody measures', 7, [], [/^7 messages of payout wait, and no replica says for how long: /]],
])('%s', (_what, waiting, ages, faults) => {
  expect(delaysOf('payout', waiting, ages)).toEqual(faults.map((fault) => expect.stringMatching(fault) as string));
});
