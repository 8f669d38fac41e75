/** Where a command writes lines. */
export interface Terminal {
  /** What was asked for. */
  print: (line: string) => void;
  /** What is wrong. */
  warn: (line: string) => void;
}

/** Control characters but line ends and tabs, and characters that change the direction of a text. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/** Lines contain what the gateway, merchants and servers said: it must not operate the terminal. */
export function printable(line: string): string {
  return line.replace(UNPRINTABLE, '\ufffd');
}
