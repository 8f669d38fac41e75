import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '..', '..');
const INSTALL_TIMEOUT_MS = 300_000;

/** The folder of a package and what it needs, for PYTHONPATH; downloaded once for each machine. @param name `moto-5.1.22` */
export async function installPythonPackages(name: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/test-packages.mjs', name], {
    cwd: root,
    timeout: INSTALL_TIMEOUT_MS,
  });
  const announced = JSON.parse(stdout) as { packages: string } | { failure: string };
  if ('failure' in announced) throw new Error(announced.failure);
  return announced.packages;
}
