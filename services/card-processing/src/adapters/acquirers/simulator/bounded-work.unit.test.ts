import type { ToldCounterpart } from '@gateway/testing';
import { faultsOfReading, startCounterpart } from '@gateway/testing';
import { EXAMPLE_ANSWERS, exampleCalls } from './example-answers.fixture';

let counterpart: ToldCounterpart;
let example: ReturnType<typeof exampleCalls>;
beforeAll(async () => {
  counterpart = await startCounterpart();
  example = exampleCalls(counterpart.url);
});
afterAll(async () => {
  example.close();
  await counterpart.close();
});

type Name = keyof typeof EXAMPLE_ANSWERS;
const NAMES = Object.keys(EXAMPLE_ANSWERS) as Name[];

test.each(NAMES)(
  'the answer of %s costs in proportion to its length, and none makes its reader throw',
  async (name) => {
    expect(await faultsOfReading(counterpart, EXAMPLE_ANSWERS[name], example.calls[name])).toEqual([]);
  },
);
