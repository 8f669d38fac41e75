/**
 * `npm run images [-- --verify] [-- --pinned] [-- --registry PREFIX]`: builds every image of the gateway as
 * PREFIX/NAME:VERSION and prints what each adds to its base image. `--verify` builds a second time from nothing and
 * compares all files. `--pinned` takes no base image but the recorded one. docs/adr/0050-images-and-provisioning.md.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './checkout.mjs';
import { explain, Failure } from './failure.mjs';
import { images } from './images/declared.mjs';

const BUILD_TIMEOUT_MS = 1_800_000;
const PULL_TIMEOUT_MS = 300_000;
const ASK_TIMEOUT_MS = 120_000;
const OUTPUT_MAX_BYTES = 64 * 1_048_576;
const MEGABYTE = 1_000_000;
/** Of what an image adds to its base. */
const LIMIT_MB = 90;

const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);
const read = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8');

/** @param {string} command @param {string[]} args */
function answerOf(command, args) {
  try {
    const options = { cwd: root, timeout: ASK_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES };
    return execFileSync(command, args, { ...options, encoding: 'utf8' }).trim();
  } catch (error) {
    throw new Failure(`${command} ${args[0]} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** @param {string} image @returns {boolean} */
function isHere(image) {
  return spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore', timeout: ASK_TIMEOUT_MS }).status === 0;
}

/**
 * The recorded base image. If it can neither be found nor pulled, one that is here under its tag, unless it must be the
 * recorded one.
 * @param {boolean} pinned
 */
function baseImage(pinned) {
  /** @type {{ tag: string, digest: string }} */
  const { tag, digest } = JSON.parse(read('deploy/base-image.json'));
  const recorded = `${tag}@${digest}`;
  if (isHere(recorded)) return recorded;
  // Where nothing can be pulled, that takes a while to fail.
  if (!pinned && isHere(tag)) {
    say(`NOTE: the base image is the ${tag} that is here, not the recorded ${digest}: see --pinned.`);
    return tag;
  }
  const pulled = spawnSync('docker', ['pull', recorded], { stdio: 'inherit', timeout: PULL_TIMEOUT_MS });
  if (pulled.status === 0) return recorded;
  throw new Failure(`The base image ${recorded} cannot be pulled.`);
}

/** The commit, and its time for all files. */
function commit() {
  const dirty = answerOf('git', ['status', '--porcelain']) === '' ? '' : '-dirty';
  return {
    revision: answerOf('git', ['rev-parse', 'HEAD']) + dirty,
    time: answerOf('git', ['log', '-1', '--format=%ct']),
  };
}

/**
 * @param {string} tag
 * @param {Record<string, string>} args
 * @param {string[]} options
 */
function build(tag, args, ...options) {
  const given = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const all = ['build', '--quiet', '--file', 'deploy/Dockerfile', '--tag', tag, ...given, ...options, '.'];
  const { status } = spawnSync('docker', all, { cwd: root, stdio: 'inherit', timeout: BUILD_TIMEOUT_MS });
  if (status !== 0) throw new Failure(`docker could not build ${tag}: see above.`);
}

/**
 * Each file under a folder of an image: its mode and its content's hash, or where its link leads.
 * @param {string} image
 * @param {string} folder
 */
function filesOf(image, folder) {
  const list =
    'cd "$1" && find . -type f -exec stat -c "%a %n" {} + && find . -type f -exec sha256sum {} + && find . -type l -printf "%p -> %l\\n"';
  const run = ['run', '--rm', '--network', 'none', '--entrypoint', 'sh', image, '-c', list, 'list', folder];
  return answerOf('docker', run).split('\n').toSorted().join('\n');
}

/** @param {string} text */
const hashOf = (text) => createHash('sha256').update(text).digest('hex');

/**
 * Builds again from nothing; the images are copies of what the build makes.
 * @param {{ first: string, args: Record<string, string>, tagOf: (name: string) => string }} built
 */
function verify({ first, args, tagOf }) {
  const second = `${first}-again`;
  build(second, args, '--target', 'build', '--no-cache');
  const files = filesOf(first, '/out');
  if (files !== filesOf(second, '/out'))
    throw new Failure(`Two builds differ: compare /out in ${first} and ${second}.`);
  for (const { name } of images) {
    const made = ['packages', 'own'].map((part) => filesOf(first, `/out/${name}/${part}`)).join('\n');
    const inImage = filesOf(tagOf(name), '/app');
    if (made.split('\n').toSorted().join('\n') !== inImage)
      throw new Failure(`${tagOf(name)} has other files than its build.`);
    say(`${name}: ${inImage.split('\n').length} entries, ${hashOf(inImage)}`);
  }
  say(`Two builds made the same files: ${hashOf(files)}`);
}

/** @param {string} image */
const bytesOf = (image) => Number(answerOf('docker', ['image', 'inspect', '--format', '{{.Size}}', image]));

try {
  const { values } = parseArgs({
    options: {
      verify: { type: 'boolean', default: false },
      pinned: { type: 'boolean', default: false },
      registry: { type: 'string', default: 'payment-gateway' },
    },
  });
  const base = baseImage(values.pinned);
  const { version } = JSON.parse(read('package.json'));
  const { revision, time } = commit();
  const tagOf = (/** @type {string} */ name) => `${values.registry}/${name}:${version}`;
  const args = {
    NODE_IMAGE: base,
    SOURCE_DATE_EPOCH: time,
    npm_config_registry: answerOf('npm', ['config', 'get', 'registry']),
  };
  const first = `payment-gateway/build:${version}`;
  build(first, args, '--target', 'build');
  const tooLarge = [];
  for (const { name } of images) {
    build(tagOf(name), { ...args, IMAGE: name, VERSION: version, REVISION: revision });
    const size = (bytesOf(tagOf(name)) - bytesOf(base)) / MEGABYTE;
    say(`${tagOf(name)}: ${size.toFixed(1)} MB of our own`);
    if (size > LIMIT_MB) tooLarge.push(name);
  }
  if (tooLarge.length > 0) throw new Failure(`More than ${LIMIT_MB} MB: ${tooLarge.join(', ')}.`);
  if (values.verify) verify({ first, args, tagOf });
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
