import { parseArguments, runCli } from './cli';

describe('the arguments of the command line', () => {
  it.each([
    [['list'], { name: 'list', query: {} }],
    [
      ['list', '--state', 'exhausted', '--account', 'merchant_1', '--limit', '5', '--before', '1:a'],
      { name: 'list', query: { state: 'exhausted', account: 'merchant_1', limit: '5', before: '1:a' } },
    ],
    [['show', 'x'], { name: 'show', id: 'x' }],
    [['resend', 'x'], { name: 'resend', id: 'x' }],
  ])('%j', (args, expected) => {
    expect(parseArguments(args)).toEqual(expected);
  });

  it.each([
    [[]],
    [['show']],
    [['show', '--all']],
    [['resend', 'x', 'y']],
    [['list', '--state']],
    [['list', '--x', '1']],
  ])('are invalid: %j', async (args) => {
    const lines: string[] = [];
    expect(await runCli(args, {}, (line) => lines.push(line))).toBe(2);
    expect(lines.join()).toContain('usage:');
  });
});
