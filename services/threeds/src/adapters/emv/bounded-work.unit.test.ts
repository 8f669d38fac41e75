import { openCalled } from '@gateway/testing';
import { EXAMPLE_ANSWERS, exampleCalls } from './example-answers.fixture';

const counterpart = openCalled(exampleCalls);
afterAll(() => counterpart.close());

type Name = keyof typeof EXAMPLE_ANSWERS;
const NAMES = Object.keys(EXAMPLE_ANSWERS) as Name[];

test.each(NAMES)(
  'the answer of %s costs in proportion to its length, and none makes its reader throw',
  async (name) => {
    expect(await counterpart.faultsOfReading(EXAMPLE_ANSWERS[name], name)).toEqual([]);
  },
);
