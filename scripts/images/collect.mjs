/**
 * `node scripts/images/collect.mjs OUTPUT [IMAGE …]`: a folder for each image, or for these, from a checkout that is installed and built. In it
 * `packages` has what others wrote, `own` the gateway's part and `bin`, the commands of the image. Both keep their places
 * in the repository, so that Node finds everything as it does here. Runs while images are built: deploy/Dockerfile.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { root } from '../checkout.mjs';
import { explain, Failure } from '../failure.mjs';
import { MALLOC_ARENA_MAX, NODE_OPTIONS } from '../gateway/services.mjs';
import { commandLines, images } from './declared.mjs';

/** Types, maps of sources that are not there, tests and what only they load. */
const NEVER_LOADED = /\.(d\.[cm]?ts|map|tsbuildinfo|fixture\.js|test\.[cm]?js)$/;
const LIST_TIMEOUT_MS = 60_000;
const APP = '/app';

/**
 * @param {string} output
 * @param {import('./declared.mjs').Image} image
 */
function collect(output, { name, workspace, opsPort }) {
  const packages = join(output, name, 'packages');
  const own = join(output, name, 'own');
  mkdirSync(join(packages, 'node_modules'), { recursive: true });
  for (const path of installedFor(workspace)) {
    if (lstatSync(path).isSymbolicLink()) copyWorkspace(path, own);
    else copyPackage(path, packages);
  }
  const bin = join(own, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [command, script] of Object.entries(
    opsPort === undefined ? ofOperations() : ofService(workspace, opsPort),
  ))
    writeFileSync(join(bin, command), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  if (opsPort !== undefined) cpSync(join(root, 'scripts/images/healthy.mjs'), join(bin, 'healthy.mjs'));
}

/**
 * Folders of the workspace and of everything that it needs in production, as npm resolves it; those of the repository's
 * own are links.
 * @param {string} workspace
 * @returns {string[]}
 */
function installedFor(workspace) {
  const args = ['ls', '--workspace', workspace, '--omit=dev', '--all', '--parseable'];
  const listed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', timeout: LIST_TIMEOUT_MS });
  return listed
    .split('\n')
    .filter((path) => path !== '' && path !== root)
    .toSorted();
}

/**
 * Nested packages have lines of their own in npm's list.
 * @param {string} path
 * @param {string} to
 */
function copyPackage(path, to) {
  copy(path, join(to, relative(root, path)), (file) => basename(file) !== 'node_modules');
}

/**
 * A workspace: what its package.json would publish, or else what it was compiled to; and the link by which others find it.
 * @param {string} link
 * @param {string} to
 */
function copyWorkspace(link, to) {
  const folder = realpathSync(link);
  const place = join(to, relative(root, folder));
  /** @type {{ files?: string[] }} */
  const { files = ['dist'] } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const file of ['package.json', ...files]) {
    if (!existsSync(join(folder, file))) throw new Failure(`${join(folder, file)} is missing: build first.`);
    copy(join(folder, file), join(place, file));
  }
  const linked = join(to, relative(root, link));
  mkdirSync(dirname(linked), { recursive: true });
  symlinkSync(relative(dirname(linked), place), linked);
}

/**
 * @param {string} from
 * @param {string} to
 * @param {(file: string) => boolean} wanted
 */
function copy(from, to, wanted = () => true) {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => file === from || (wanted(file) && !NEVER_LOADED.test(file)),
  });
}

/**
 * @param {string} workspace
 * @param {number} opsPort
 */
function ofService(workspace, opsPort) {
  const byDefault = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    `export ${name}="\${${name}:-${value}}"`;
  const port = byDefault('OPS_PORT', opsPort);
  const node = ['node', ...NODE_OPTIONS, `${APP}/${workspace}/dist/main.js`].join(' ');
  return {
    start: `${port}\n${byDefault('MALLOC_ARENA_MAX', MALLOC_ARENA_MAX)}\nexec ${node}`,
    healthy: `${port}\nexec node ${APP}/bin/healthy.mjs`,
  };
}

/** Every command line, as `npm run` has it in a checkout. It runs once, so there is no health to ask for. */
function ofOperations() {
  const commands = Object.entries(commandLines()).map(([name, file]) => [name, `exec node ${APP}/${file} "$@"`]);
  return { ...Object.fromEntries(commands), start: 'exec provision', healthy: 'exit 0' };
}

/**
 * Gives everything in it the same time and modes that do not depend on the builder's umask.
 * @param {string} path
 * @param {number} seconds since 1970
 */
function level(path, seconds) {
  const found = lstatSync(path);
  if (found.isDirectory()) for (const name of readdirSync(path)) level(join(path, name), seconds);
  if (!found.isSymbolicLink()) chmodSync(path, found.isDirectory() || found.mode & 0o100 ? 0o755 : 0o644);
  lutimesSync(path, seconds, seconds);
}

try {
  const [output, ...names] = process.argv.slice(2);
  const wanted = names.length === 0 ? images : images.filter(({ name }) => names.includes(name));
  if (output === undefined || wanted.length < names.length)
    throw new Failure('Usage: node scripts/images/collect.mjs OUTPUT [IMAGE …].');
  for (const image of wanted) collect(output, image);
  level(output, Number(process.env.SOURCE_DATE_EPOCH ?? 0));
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
