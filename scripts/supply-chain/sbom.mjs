import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { Failure } from '../failure.mjs';
import { nameIn, packagesOf } from './lockfile.mjs';
import { npm } from './npm.mjs';

/**
 * @typedef {{ 'bom-ref': string, name: string, purl: string, hashes?: { alg: string, content: string }[] }} Component
 * @typedef {{ metadata: { component: Component }, components: Component[] }} Sbom
 */

/** ajv 8, resolved from where a service has it, wherever npm has put it. */
const require = createRequire(new URL('../../libs/service-kit/package.json', import.meta.url));
const SCHEMAS = join(root, 'node_modules', '@cyclonedx', 'cyclonedx-library', 'res', 'schema');
/** npm writes 1.5. */
const SCHEMA = 'bom-1.5.SNAPSHOT.schema.json';
/** The schema refers to these by the names of their files, relative to its own id. */
const REFERENCED = ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'];
const REFERENCED_FROM = 'http://cyclonedx.org/schema/';

/**
 * A CycloneDX bill of materials of everything in package-lock.json.
 * @returns {Promise<{ json: string } | { unavailable: string }>}
 */
export async function produceSbom() {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout, stderr, exitCode } = await npm('sbom', ...options);
  if (exitCode === 0) return { json: withNames(stdout) };
  if (`${stdout}${stderr}`.includes('Unknown command')) {
    return { unavailable: '`npm sbom` came with npm 9.9 and 10.2, and this one is older' };
  }
  throw new Failure(`npm sbom has failed: ${stderr.trim()}`);
}

/**
 * Gives components the names of their packages. npm names them after their folders: workspaces, aliases, and the project
 * itself after the folder of the checkout.
 * @param {string} json
 */
function withNames(json) {
  /** @type {Sbom} */
  const sbom = JSON.parse(json);
  for (const component of [sbom.metadata.component, ...sbom.components]) {
    const [, name = component.name] = /^pkg:npm\/(.+)@/.exec(decodeURIComponent(component.purl)) ?? [];
    component.name = name;
  }
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}

/**
 * What is wrong with a bill of materials, one sentence each: it breaks CycloneDX's JSON Schema, or lacks a locked
 * package or its hash.
 * @param {Sbom} sbom
 * @param {import('./lockfile.mjs').Lock} lock
 * @returns {string[]}
 */
export function problemsOf(sbom, lock) {
  const listed = new Map((sbom.components ?? []).map((component) => [component['bom-ref'], component]));
  const missing = packagesOf(lock.packages).flatMap(([path, { name = nameIn(path), version, integrity }]) => {
    const reference = `${name}@${version}`;
    const component = listed.get(reference);
    if (component === undefined) return [`The bill of materials lacks ${reference}.`];
    const isHashed = integrity === undefined || component.hashes?.some(({ content }) => content === hexOf(integrity));
    return isHashed === true ? [] : [`The bill of materials has another hash for ${reference} than package-lock.json.`];
  });
  return [...schemaProblems(sbom), ...missing];
}

/** @param {string} integrity */
function hexOf(integrity) {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
}

/** @param {Sbom} sbom */
function schemaProblems(sbom) {
  const { default: Ajv } = require('ajv');
  // No e-mail or IRI here decides anything; ajv-formats does not know the international forms.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  for (const name of REFERENCED) ajv.addSchema({ ...schemaIn(name), $id: REFERENCED_FROM + name });
  const validate = ajv.compile(schemaIn(SCHEMA));
  if (validate(sbom)) return [];
  return (validate.errors ?? []).map(
    (/** @type {{ instancePath: string, message?: string }} */ { instancePath, message }) =>
      `The bill of materials breaks CycloneDX's schema: ${instancePath} ${message}.`,
  );
}

/** @param {string} name */
function schemaIn(name) {
  return JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8'));
}
