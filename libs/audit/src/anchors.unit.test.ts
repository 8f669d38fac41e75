import type { Entry } from './entry';
import { anchorIn, createHeadAnchors } from './anchors';

const HASH = 'a'.repeat(64);

it.each<[string, object | string, object | undefined]>([
  ['an anchor', { message: 'audited', sequence: 7, hash: HASH, service: 'payout' }, { sequence: 7, hash: HASH }],
  ['another line', { message: 'answered', reference: 'audited' }, undefined],
  ['no hash', { message: 'audited', sequence: 7 }, undefined],
  ['a wrong hash', { message: 'audited', sequence: 7, hash: 'x' }, undefined],
  ['a wrong number', { message: 'audited', sequence: '7', hash: HASH }, undefined],
  ['no JSON', '"audited', undefined],
  ['a list', ['audited'], undefined],
])('reads a log line with %s', (_what, line, anchor) => {
  expect(anchorIn(typeof line === 'string' ? line : JSON.stringify(line))).toEqual(anchor);
});

it('logs the head when it has changed, and once an hour', async () => {
  const heads = [{ sequence: 1, hash: 'one' }];
  const logged: unknown[] = [];
  let nowMs = 0;
  const list = async () => heads.slice(-1) as unknown as Entry[];
  const logger = { info: (message: string, fields?: object) => void logged.push([message, fields]) };
  const anchor = createHeadAnchors({ audit: { list }, now: () => nowMs, logger });
  await anchor();
  await anchor();
  expect(logged).toEqual([['audited', { sequence: 1, hash: 'one' }]]);
  heads.push({ sequence: 2, hash: 'two' });
  await anchor();
  expect(logged).toHaveLength(2);
  nowMs = 3_600_000;
  await anchor();
  expect(logged[2]).toEqual(['audited', { sequence: 2, hash: 'two' }]);
});
