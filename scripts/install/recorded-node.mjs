import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectNode, root } from '../checkout.mjs';
import { Failure } from '../failure.mjs';
import { recordedSums, sha256Of } from './recorded-sums.mjs';

/** Where services run in production. A new version of Node is recorded for it at least. */
const PRODUCTION = 'linux-x64';

/**
 * Throws a Failure unless the project's Node is the recorded one. package-lock.json says nothing about it: while it is
 * installed, the package `node` fetches the program from another package, one for each platform.
 * @returns {Promise<string | undefined>} a note if no sum is recorded for this platform
 */
export async function requireRecordedNode() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const version = `node-${lock.packages['node_modules/node'].version}`;
  const platform = `${process.platform}-${process.arch}`;
  const recorded = recordedSums(`${version}-${platform}`).get('node');
  if (recorded === undefined && recordedSums(`${version}-${PRODUCTION}`).size > 0) {
    return `Node: no SHA-256 is recorded for ${platform}, so it was not checked`;
  }
  if ((await sha256Of(projectNode)) === recorded) return undefined;
  throw new Failure(
    `${projectNode} is not the ${version} that scripts/install/downloads.sha256 records for ${platform}, and was not started. ` +
      'Run npm ci again; after a change of version, record the new sum (CONTRIBUTING.md).',
  );
}
