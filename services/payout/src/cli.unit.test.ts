import { parseArguments, runCli } from './cli';

describe('the arguments of the command line', () => {
  it.each([
    [['list'], { name: 'list', query: {} }],
    [['list', '--state', 'unknown', '--limit', '5'], { name: 'list', query: { state: 'unknown', limit: '5' } }],
    [['list', '--account', 'shop_one'], { name: 'list', query: { account: 'shop_one' } }],
    [['batches', '--limit', '5'], { name: 'batches', query: { limit: '5' } }],
    [['show', 'x'], { name: 'show', id: 'x' }],
    [['retry', 'x'], { name: 'retry', id: 'x' }],
    [['cut'], { name: 'cut' }],
  ])('%j', (args, expected) => {
    expect(parseArguments(args)).toEqual(expected);
  });

  it.each([
    [[]],
    [['show']],
    [['show', '--all']],
    [['retry', 'x', 'y']],
    [['cut', 'now']],
    [['list', '--state']],
    [['batches', '--state', 'open']],
  ])('are refused: %j', async (args) => {
    const lines: string[] = [];
    expect(await runCli(args, {}, (line) => lines.push(line))).toBe(2);
    expect(lines.join()).toContain('usage:');
  });
});
