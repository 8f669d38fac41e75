import { scenarios } from '@gateway/contracts';
import { runCli } from './cli';

function run(...args: string[]) {
  const lines: string[] = [];
  return { exitCode: runCli(args, (line) => lines.push(line)), lines };
}

it('prints every scenario on a line of its own', () => {
  const { exitCode, lines } = run('scenarios');
  expect(exitCode).toBe(0);
  expect(lines.slice(1).map((line) => line.split(/ +/)[0])).toEqual(scenarios().map(({ name }) => name));
  expect(lines.find((line) => line.startsWith('insufficient-funds '))).toMatch(/ amount=31\.01 .* Insufficient funds$/);
});

it('prints the fields of a scenario as a form', () => {
  expect(run('fields', 'void-insufficient-funds')).toEqual({ exitCode: 0, lines: ['amount=41.01&currency=XTS'] });
  expect(run('fields', 'card-challenged').lines).toEqual(['card_number=4012000300001003&currency=XTS']);
});

it.each([
  [['fields', 'no-such'], 1, 1],
  [[], 2, 1],
  [['scenarios', 'more'], 2, 2],
  [['fields'], 2, 2],
  [['fields', 'a', 'b'], 2, 2],
  [['help'], 0, 1],
])('%j ends with %d', (args, exitCode, lines) => {
  const ended = run(...args);
  expect([ended.exitCode, ended.lines.length]).toEqual([exitCode, lines]);
});
