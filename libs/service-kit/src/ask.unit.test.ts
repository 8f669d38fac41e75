import { PassThrough } from 'node:stream';
import { askWithoutEcho } from './ask';

function terminal(isTTY: boolean) {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { input: Object.assign(new PassThrough(), { isTTY }), output, shown: () => text };
}

it('takes the first line of a pipe, and asks nothing there', async () => {
  const pipe = terminal(false);
  pipe.input.write('first_password\nsecond line\n');
  expect(await askWithoutEcho('Password', pipe)).toBe('first_password');
  expect(pipe.shown()).toBe('');
});

it('takes a line without an end', async () => {
  const pipe = terminal(false);
  pipe.input.end('first_password');
  expect(await askWithoutEcho('Password', pipe)).toBe('first_password');
});

it('does not show what is typed at a terminal', async () => {
  const typed = terminal(true);
  const answer = askWithoutEcho('Password', typed);
  typed.input.write('pass_word\r');
  expect(await answer).toBe('pass_word');
  expect(typed.shown()).toBe('Password: \n');
});

it('throws if the input ends first', async () => {
  const pipe = terminal(false);
  pipe.input.end();
  await expect(askWithoutEcho('Password', pipe)).rejects.toThrow('the input has no line');
});

it('ends at Ctrl-C', async () => {
  const typed = terminal(true);
  const answer = askWithoutEcho('Password', typed);
  typed.input.write('pass\u0003');
  await expect(answer).rejects.toThrow('nothing was typed');
});
