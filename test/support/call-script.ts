import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = join(__dirname, '..', '..');

/** Calls an exported function of a file in `scripts`; jest does not load ES modules. */
export function callScript<T>(script: string, name: string, ...args: unknown[]): Promise<T> {
  return callScriptIn<T>(process.env, script, name, ...args);
}

export async function callScriptIn<T>(
  env: NodeJS.ProcessEnv,
  script: string,
  name: string,
  ...args: unknown[]
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'payment-gateway-script-'));
  const input = join(directory, 'arguments.json');
  writeFileSync(input, JSON.stringify(args));
  const program = `
    import { readFileSync } from 'node:fs';
    import { ${name} } from ${JSON.stringify(pathToFileURL(join(root, 'scripts', script)).href)};
    const args = JSON.parse(readFileSync(${JSON.stringify(input)}, 'utf8'));
    const answer = await Promise.resolve(${name}(...args)).catch(({ message }) => ({ failure: message }));
    process.stdout.write(JSON.stringify(answer ?? null));`;
  try {
    const options = { cwd: root, env, maxBuffer: 64 * 1_048_576 };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], options);
    return JSON.parse(stdout) as T;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
