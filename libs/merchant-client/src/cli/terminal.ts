/** Where a command writes lines. */
export interface Terminal {
  /** What was asked for. */
  print: (line: string) => void;
  /** What is wrong. */
  warn: (line: string) => void;
}
