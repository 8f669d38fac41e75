import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(__dirname, '..', '..');

/** Why a block of a document is not run, as its info string says: ```sh not-run=docker */
export const NOT_RUN = {
  gateway: 'starts the gateway or its tests, as the test that would run it does itself',
  placeholders: 'has names to fill in; its commands and options are compared with the help of the command',
  docker: 'needs a Docker engine',
  kubernetes: 'needs a Kubernetes cluster',
  cloud: 'needs an account at a provider',
  clients: 'downloads generators and compilers; npm run test:clients runs it',
} as const;

/** A fenced block of a document. */
export interface Block {
  /** Path in the repository, and line of the fence. */
  readonly document: string;
  readonly line: number;
  readonly language: string;
  /** What else its info string says, as `name` or `name=value`. */
  readonly marks: readonly string[];
  /** Without the indentation of the fence. */
  readonly text: string;
  /** Of the HTML comment that begins with `given` right before it: code that declares what the block uses. */
  readonly given: string | undefined;
}

const FENCE = /(?:^<!-- given\n(?<given>[^]*?)^-->\n\n?)?^(?<indent> *)```(?<info>.*)\n(?<text>[^]*?)^ *```$/gm;

/** All fenced blocks of a Markdown text, in order. */
export function blocksOf(document: string, markdown: string): Block[] {
  return Array.from(markdown.matchAll(FENCE), ({ index, 0: whole, groups = {} }) => {
    const { given, indent = '', info = '', text = '' } = groups;
    const [language = '', ...marks] = info.trim().split(/\s+/);
    const before = markdown.slice(0, index) + whole.slice(0, whole.indexOf('```'));
    return {
      document,
      line: before.split('\n').length,
      language,
      marks,
      text: text.replaceAll(new RegExp(`^ {${indent.length}}`, 'gm'), ''),
      given,
    };
  });
}

/** Markdown files of the project itself, as paths in the repository. */
export function documents(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|coverage|\..*)$/.test(entry.name) ? [] : documents(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

export const readDocument = (path: string): string => readFileSync(join(root, path), 'utf8');

export const placeOf = ({ document, line }: Block): string => `${document}:${line}`;

/** The value of `not-run=…`. */
export function notRunBecause({ marks }: Block): string | undefined {
  return marks.find((mark) => mark.startsWith('not-run='))?.slice('not-run='.length);
}

/** Shows what the block before it prints. */
export const isOutput = ({ marks }: Block): boolean => marks.includes('output');

/** A block of code that is run, with what it prints, as the document shows it. */
export interface Step {
  readonly block: Block;
  readonly output: readonly string[];
}

const isRun = (block: Block): boolean =>
  ['sh', 'ts'].includes(block.language) && notRunBecause(block) === undefined && block.given === undefined;

/** The blocks of a document that are run, in order. */
export function stepsOf(blocks: readonly Block[]): Step[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    const lines = next !== undefined && isOutput(next) ? next.text.split('\n') : [];
    return isRun(block) ? [{ block, output: lines.filter((line) => line.trim() !== '') }] : [];
  });
}

/** Blocks of output that do not follow a block which is run. */
export function orphansOf(blocks: readonly Block[]): Block[] {
  return blocks.filter((block, index) => {
    const before = blocks[index - 1];
    return isOutput(block) && (before === undefined || !isRun(before));
  });
}

const ANYTHING = '…';
const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** The first expected line that does not come, in order, among those printed; `…` stands for any text. */
export function missingLine(expected: readonly string[], printed: string): string | undefined {
  const lines = printed.split('\n');
  let at = 0;
  for (const line of expected) {
    const pattern = new RegExp(`^\\s*${line.trim().split(ANYTHING).map(literally).join('.*')}\\s*$`);
    const found = lines.findIndex((candidate, index) => index >= at && pattern.test(candidate));
    if (found === -1) return line;
    at = found + 1;
  }
  return undefined;
}
