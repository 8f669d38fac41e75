import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Where a command line reads an answer from, and where it shows the question. */
export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}

/** Asks a question and resolves to the answer, one line. */
export type Ask = (question: string) => Promise<string>;

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/**
 * Reads one line that must not appear on a screen, in a history or in the list of processes: a password, or a person's
 * name. A terminal shows the question but not the answer; from a pipe or a file it takes the first line.
 *
 * @throws Error if the input ends without a line
 */
export async function askWithoutEcho(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string> {
  const terminal = input.isTTY === true;
  if (terminal) output.write(`${question}: `);
  const lines = createInterface({ input, output: nowhere(), terminal });
  lines.on('SIGINT', () => lines.close());
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
    if (terminal) output.write('\n');
  }
  throw new Error('nothing was typed, and the input has no line');
}
