import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EXAMPLE = join(__dirname, '..', '..', 'examples', 'analytics-python');
const INSTALL_TIMEOUT_MS = 240_000;
const READ_TIMEOUT_MS = 90_000;

/** Makes a virtual environment in the folder, as the example's README says. @returns its interpreter */
export async function installReader(folder: string): Promise<string> {
  await run('python3', ['-m', 'venv', join(folder, 'venv')], { timeout: INSTALL_TIMEOUT_MS });
  const python = join(folder, 'venv', 'bin', 'python');
  const install = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--no-compile'];
  await run(python, [...install, '--requirement', join(EXAMPLE, 'requirements.txt')], { timeout: INSTALL_TIMEOUT_MS });
  return python;
}

/** Runs the reader until it has what the topics have now. @returns what it has printed */
export async function runReader(python: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(python, [join(EXAMPLE, 'events_reader.py'), '--once'], {
    env: { PATH: process.env['PATH'], ...env },
    timeout: READ_TIMEOUT_MS,
  });
  return stdout.trim();
}

/** Rows of its file. */
export async function queryReader<Row>(python: string, file: string, sql: string): Promise<Row[]> {
  const script = [
    'import json, sqlite3, sys',
    'db = sqlite3.connect(sys.argv[1])',
    'db.row_factory = sqlite3.Row',
    'print(json.dumps([dict(row) for row in db.execute(sys.argv[2])]))',
  ].join('\n');
  const { stdout } = await run(python, ['-c', script, file, sql], { timeout: READ_TIMEOUT_MS });
  return JSON.parse(stdout) as Row[];
}
