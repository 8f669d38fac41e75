/**
 * @typedef {object} LockEntry
 * @property {string} [name] if it is installed under another
 * @property {string} [version]
 * @property {string} [resolved]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [optional]
 * @property {boolean} [hasInstallScript]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 *
 * @typedef {{ lockfileVersion: number, packages: Record<string, LockEntry> }} Lock
 */

const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** Where CI and production run. What npm installs there must have a hash. */
const OUR_PLATFORMS = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
];

/**
 * What is wrong with a package-lock.json, one sentence each: a package without a SHA-512, from elsewhere than the
 * registry, or with an unreviewed install script.
 * @param {Lock} lock
 * @param {Record<string, boolean>} allowScripts of package.json: whether the install script of a package may run
 * @returns {string[]}
 */
export function problemsOf({ lockfileVersion, packages }, allowScripts) {
  if (lockfileVersion !== 3) return [`package-lock.json has version ${lockfileVersion}, not 3.`];
  return packagesOf(packages).flatMap(([path, entry]) => [
    ...hashProblem(path, entry),
    ...sourceProblem(path, entry),
    ...scriptProblem(path, entry, allowScripts),
  ]);
}

/**
 * The packages from the registry: neither the project, nor its workspaces and the links to them.
 * @param {Lock['packages']} packages
 */
export function packagesOf(packages) {
  const workspaces = new Set(
    Object.values(packages).flatMap(({ link, resolved }) => (link === true ? [resolved] : [])),
  );
  return Object.entries(packages).filter(
    ([path, entry]) => path !== '' && !workspaces.has(path) && !(entry.link === true && isWorkspace(packages, entry)),
  );
}

/**
 * @param {Lock['packages']} packages
 * @param {LockEntry} link
 */
function isWorkspace(packages, { resolved = '' }) {
  return resolved in packages && !resolved.startsWith('.') && !resolved.includes('node_modules');
}

/**
 * Registries that lack a platform's package give npm no hash for it, so an optional one for another platform than ours
 * may be without.
 * @param {string} path
 * @param {LockEntry} entry
 */
function hashProblem(path, entry) {
  if (entry.integrity === undefined && entry.optional === true && !isForOurPlatforms(entry)) return [];
  return INTEGRITY.test(entry.integrity ?? '') ? [] : [`${path} has no SHA-512 integrity.`];
}

/** @param {LockEntry} entry */
function isForOurPlatforms({ os = [], cpu = [] }) {
  return OUR_PLATFORMS.some((ours) => admits(os, ours.os) && admits(cpu, ours.cpu));
}

/**
 * npm's rule: a list names what it admits, or what it excludes with a `!`.
 * @param {string[]} list
 * @param {string} name
 */
function admits(list, name) {
  if (list.includes(`!${name}`)) return false;
  const admitted = list.filter((one) => !one.startsWith('!'));
  return admitted.length === 0 || admitted.includes(name);
}

/**
 * .npmrc keeps the registry's addresses out of the lock file, so any address is one of elsewhere.
 * @param {string} path
 * @param {LockEntry} entry
 */
function sourceProblem(path, { resolved, link }) {
  if (resolved === undefined && link !== true) return [];
  return [`${path} comes from elsewhere than the registry.`];
}

/**
 * @param {string} path
 * @param {LockEntry} entry
 * @param {Record<string, boolean>} allowScripts
 */
function scriptProblem(path, { hasInstallScript }, allowScripts) {
  if (hasInstallScript !== true || nameIn(path) in allowScripts) return [];
  return [`${path} has an install script that "allowScripts" in package.json neither allows nor denies.`];
}

/**
 * @param {string} path
 * @returns {string} the package's name
 */
export function nameIn(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
