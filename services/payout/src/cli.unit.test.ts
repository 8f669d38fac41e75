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
    [['holds'], { name: 'holds' }],
    [['hold', 'x'], { name: 'hold', scope: { payout: 'x' } }],
    [['release', '--account', 'shop_one'], { name: 'release', scope: { account: 'shop_one' } }],
    [['cancel', '--all'], { name: 'cancel', scope: { all: 'yes' } }],
  ])('%j', (args, expected) => {
    expect(parseArguments(args)).toEqual(expected);
  });

  it.each([
    [[]],
    [['show']],
    [['show', '--all']],
    [['retry', 'x', 'y']],
    [['cut', 'now']],
    [['holds', 'x']],
    [['hold']],
    [['hold', '--account']],
    [['hold', '--all', '--account', 'shop_one']],
    [['hold', '--account', 'a', '--account', 'b']],
    [['cancel', 'x', 'y']],
    [['release', '--everything']],
    [['list', '--state']],
    [['batches', '--state', 'open']],
  ])('are refused: %j', async (args) => {
    const lines: string[] = [];
    expect(await runCli(args, {}, (line) => lines.push(line))).toBe(2);
    expect(lines.join()).toContain('usage:');
  });
});
