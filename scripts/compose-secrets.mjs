/**
 * `npm run compose:secrets -- DIRECTORY [--host NAME …]`: makes the certificates, keys, identities and passwords of a
 * trial of deploy/compose/production.yml. NAME: names of this machine, for the certificates of its public ports.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trialSecrets, writeSecrets } from './compose/trial-secrets.mjs';
import { explain, Failure } from './failure.mjs';

try {
  const { values, positionals } = parseArgs({
    options: { host: { type: 'string', multiple: true, default: [] } },
    allowPositionals: true,
  });
  const [directory, ...rest] = positionals;
  if (directory === undefined || rest.length > 0) {
    throw new Failure('Usage: npm run compose:secrets -- DIRECTORY [--host NAME …].');
  }
  writeSecrets(resolve(directory), await trialSecrets(values.host));
  process.stdout.write(`${resolve(directory)} has the certificates, keys and passwords of a trial.\n`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
