/**
 * `node scripts/check-node.mjs`: checks the project's Node against its recorded sum (docs/adr/0049-supply-chain.md). Run it
 * on the system's Node, directly after `npm ci`; `npm run` would run it on the Node that it checks.
 */
import { explain } from './failure.mjs';
import { requireRecordedNode } from './install/recorded-node.mjs';

try {
  process.stdout.write(`${(await requireRecordedNode()) ?? 'Node: as recorded'}\n`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
