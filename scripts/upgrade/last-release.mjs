import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, stateDirectory } from '../checkout.mjs';
import { Failure } from '../failure.mjs';

const RELEASE = /^v\d+\.\d+\.\d+$/;
const STEP_TIMEOUT_MS = 600_000;
/** The checkout may belong to another user, as in many CI containers. */
const GIT = ['-c', 'safe.directory=*', '-c', 'advice.detachedHead=false'];

/** @param {string[]} args @returns {string} */
function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', [...GIT, '-C', root, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Failure(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}

/**
 * The commit of `from`, else of the latest tag vX.Y.Z before this commit; undefined if there is none, as before the first
 * release and in clones without tags.
 * @param {string | undefined} from a tag or commit
 * @returns {{ name: string, commit: string } | undefined}
 */
export function lastRelease(from) {
  /** @param {string} name */
  const commitOf = (name) => git('rev-parse', '--verify', `${name}^{commit}`);
  if (from !== undefined) return { name: from, commit: commitOf(from) };
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n');
  const head = commitOf('HEAD');
  for (const name of tags.filter((tag) => RELEASE.test(tag))) {
    const commit = commitOf(name);
    if (commit !== head) return { name, commit };
  }
  return undefined;
}

/**
 * A checkout of the commit, installed and built as the release itself says. It is made once.
 * @param {string} commit
 * @returns {string} its folder
 */
export function builtCheckout(commit) {
  const folder = join(stateDirectory, 'releases', commit);
  const done = join(folder, '.gateway-built');
  if (existsSync(done)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  git('clone', '--quiet', '--no-checkout', '--shared', root, folder);
  run(folder, 'git', ...GIT, 'checkout', '--quiet', commit);
  run(folder, 'npm', 'ci', '--include=dev', '--no-fund', '--no-audit');
  run(folder, 'npm', 'run', '--silent', 'build');
  writeFileSync(done, '');
  return folder;
}

/** @param {string} cwd @param {string} command @param {string[]} args */
function run(cwd, command, ...args) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', timeout: STEP_TIMEOUT_MS });
  if (status !== 0) throw new Failure(`${command} ${args.join(' ')} failed in ${cwd}.`);
}
