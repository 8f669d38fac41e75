import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import ts from 'typescript';
import { until } from '@gateway/testing';
import type { Block, Step } from './blocks';
import { missingLine, placeOf, root } from './blocks';

const STEP_TIMEOUT_MS = 60_000;
/** For commands that go on. */
const OUTPUT_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 10_000;
/** In the checkout, so that packages are found, and in a folder that no tool looks into. */
const FOLDER = join(root, '.gateway', `documents-${process.pid}`);
/** Marks a command or a program that goes on, such as a server or a reader. */
const UNTIL_CTRL_C = /^(.*\S)\s+(?:#|\/\/) until Ctrl-C.*$/;

/** Texts of documents with what stands for them in a test: ports, folders. */
export type Stands = readonly (readonly [documented: string, tested: string])[];

const replaced = (text: string, stands: Stands): string =>
  stands.reduce((result, [documented, tested]) => result.replaceAll(documented, tested), text);
const restored = (text: string, stands: Stands): string =>
  stands.reduce((result, [documented, tested]) => result.replaceAll(tested, documented), text);

/** Type checks TypeScript blocks, each as a program of its own. Returns one line for each error. */
export function typeErrors(blocks: readonly Block[]): string[] {
  mkdirSync(FOLDER, { recursive: true });
  const files = new Map(blocks.map((block, index) => [join(FOLDER, `types-${index}.mts`), block]));
  for (const [path, block] of files) writeFileSync(path, moduleOf(block));
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], options));
  return diagnostics.map(({ file, start = 0, messageText }) => {
    const block = file && files.get(file.fileName);
    const line = file?.text.slice(0, start).split('\n').at(-1) ?? '';
    return `${block === undefined ? '' : placeOf(block)}, after “${line.trim()}”: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const moduleOf = ({ text, given = '' }: Block): string => given + text;

/** What `bash -n` says about a text: nothing if its syntax is right. */
export function syntaxErrors(text: string): string {
  return spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' }).stderr;
}

/** What of a document has run; its commands that go on run until `end`. */
interface Shell {
  /** Resolves when the commands are through, or the shell has ended. Returns false if one failed. */
  run(step: number, commands: string): Promise<boolean>;
  /** What a step has printed, and the commands that go on. */
  output(step: number): string;
  end(): Promise<void>;
}

const logOf = (step: number): string => join(FOLDER, `step-${step}.log`);
const markOf = (step: number): string => `<<<after step ${step}>>>`;

/** Bash, to which the commands of each step are given when those before have printed what they should. */
function startShell(env: NodeJS.ProcessEnv): Shell {
  const child = spawn('bash', [], { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const closed = once(child, 'close');
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  // Documents wait for people; the longest wait of a test is for a file that a service reads every second.
  child.stdin.write('set -eo pipefail; sleep() { command sleep 2; }\n');

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // The group is gone already.
    }
  }

  return {
    async run(step, commands) {
      const file = join(FOLDER, `step-${step}.sh`);
      writeFileSync(file, commands);
      child.stdin.write(`. ${file} < /dev/null; printf '\n%s\n' '${markOf(step)}'\n`);
      const isThrough = () => text.includes(markOf(step));
      await until('the commands to end', () => isThrough() || hasEnded(), STEP_TIMEOUT_MS).catch(() => false);
      return isThrough();
    },
    output(step) {
      const [before = ''] = text.split(markOf(step));
      const logs = Array.from({ length: step + 1 }, (_, earlier) => logOf(earlier)).filter((log) => existsSync(log));
      return [before.split(markOf(step - 1)).at(-1), ...logs.map((log) => readFileSync(log, 'utf8'))].join('\n');
    },
    async end() {
      signal('SIGTERM');
      await Promise.race([closed, setTimeout(END_TIMEOUT_MS, undefined, { ref: false })]);
      signal('SIGKILL');
      await closed;
    },
  };
}

/** The commands of a step. One that goes on runs in the background, with its output in a file of its own. */
function commandsOf({ language, text }: Block, step: number): string {
  const goesOn = text.split('\n').some((line) => UNTIL_CTRL_C.test(line));
  const file = join(FOLDER, `step-${step}.mts`);
  if (language === 'ts') writeFileSync(file, text);
  const commands = language === 'ts' ? `node ${file}${goesOn ? ' # until Ctrl-C' : ''}\n` : text;
  return commands.replaceAll(new RegExp(UNTIL_CTRL_C, 'gm'), `$1 > ${logOf(step)} 2>&1 &`);
}

/**
 * Runs the blocks of a document one after the other in one shell, as its reader would, and compares what they print with
 * what the document shows.
 *
 * @returns one line for the block that fails, or for each that prints something else
 */
export async function runDocument(
  steps: readonly Step[],
  { env, stands }: { env: NodeJS.ProcessEnv; stands: Stands },
): Promise<string[]> {
  mkdirSync(FOLDER, { recursive: true });
  const shell = startShell(env);
  const problems: string[] = [];
  try {
    for (const [step, { block, output }] of steps.entries()) {
      const text = replaced(block.text, stands);
      const isThrough = await shell.run(step, commandsOf({ ...block, text }, step));
      const printed = () => restored(shell.output(step), stands);
      if (!isThrough) return [...problems, `${placeOf(block)} fails:\n${printed()}`];
      const isComplete = () => missingLine(output, printed()) === undefined;
      await until('the output', isComplete, OUTPUT_TIMEOUT_MS).catch(() => false);
      if (!isComplete())
        problems.push(`${placeOf(block)} does not print\n${missingLine(output, printed())}\nbut\n${printed()}`);
    }
    return problems;
  } finally {
    await shell.end();
    rmSync(FOLDER, { recursive: true, force: true });
  }
}
