import { explanationOf } from './errors';

test('a refused connection is explained', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:27217');
  expect(explanationOf(refused)).toBe('connect ECONNREFUSED 127.0.0.1:27217: nothing listens there. Is it running?');
  expect(explanationOf(new Error('no account shop_one'))).toBe('no account shop_one');
  expect(explanationOf('a text')).toBe('a text');
});
