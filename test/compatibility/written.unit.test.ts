import fc from 'fast-check';
import { messages } from '@gateway/contracts';
import { arbitraryOf } from './arbitrary';
import type { Schema } from './schema';

const RUNS = 40;
const narrowed = messages.filter(({ schema, written }) => written !== schema);

test('there are types whose schemas for readers outside say more', () => {
  expect(narrowed.length).toBeGreaterThan(20);
});

test.each(narrowed.map((message) => [message.type, message] as const))(
  'the gateway reads whatever the schema of %s for readers outside allows',
  (_type, { written, problem }) => {
    const values = arbitraryOf(JSON.parse(JSON.stringify(written)) as Schema);
    fc.assert(
      fc.property(values, (value) => expect(problem(value)).toBeUndefined()),
      { numRuns: RUNS },
    );
    const { properties, required = [] } = written;
    expect(required.filter((name) => properties[name] === undefined)).toEqual([]);
  },
);
