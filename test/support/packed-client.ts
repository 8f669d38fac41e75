import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The merchants' client as shops get it: the packed tarball, installed into projects that have nothing else. */

const root = join(__dirname, '..', '..');
const folder = join(root, 'libs', 'merchant-client');

const RUN_TIMEOUT_MS = 300_000;

export interface Run {
  code: number;
  output: string;
}

/** Runs to the end, whatever the exit code. */
export async function run(file: string, args: string[], cwd: string): Promise<Run> {
  try {
    const { stdout, stderr } = await promisify(execFile)(file, args, { cwd, timeout: RUN_TIMEOUT_MS });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

export async function succeed(running: Promise<Run>): Promise<string> {
  const { code, output } = await running;
  if (code !== 0) throw new Error(output);
  return output;
}

/** Into the folder `work`, from a copy of the repository's relevant part, because other tests build in the folder itself. */
export async function packClient(work: string): Promise<string> {
  const copy = join(work, 'source', 'libs', 'merchant-client');
  const isSource = (path: string): boolean => !/^\/(dist|node_modules|test)(\/|$)/.test(path.slice(folder.length));
  cpSync(folder, copy, { recursive: true, filter: isSource });
  cpSync(join(root, 'tsconfig.base.json'), join(work, 'source', 'tsconfig.base.json'));
  symlinkSync(join(root, 'node_modules'), join(work, 'source', 'node_modules'));
  const packed = await succeed(
    run('npm', ['pack', '--json', '--foreground-scripts=false', '--pack-destination', work], copy),
  );
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['), packed.lastIndexOf(']') + 1)) as [
    { filename: string },
  ];
  return join(work, filename);
}

/** A project with these files. */
export function newProject(work: string, name: string, files: Record<string, string>): string {
  const cwd = join(work, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name, private: true }));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(cwd, file), content);
  return cwd;
}

const IMPORTS = `import { assertNever, createClient, expressCallbackHandler, fetchCallbackHandler } from '@payment-gateway/client';
import type { ChargeRequest, Client } from '@payment-gateway/client';
`;
const USES = `
export const client: Client = createClient({ baseUrl: 'https://pay.example', account: 'a', password: 'b' });
export const handlers = [expressCallbackHandler({ password: 'b' }, () => undefined), fetchCallbackHandler({}, async () => {})];
`;
const COMPLETE = `
export async function pay(client: Client, request: ChargeRequest): Promise<string> {
  const outcome = await client.sale(request);
  switch (outcome.kind) {
    case 'approved':
      return outcome.reference;
    case 'declined':
      return outcome.cardholderText ?? outcome.advice;
    case 'error':
      return outcome.advice;
    case 'unknown':
      return outcome.transaction_unique_id ?? '';
    default:
      return assertNever(outcome);
  }
}
`;

/** A program in TypeScript that needs no other types. */
export const TYPED_PROGRAM = { imports: IMPORTS, uses: USES, complete: COMPLETE };
