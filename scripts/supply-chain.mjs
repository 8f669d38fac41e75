/**
 * `npm run supply-chain [-- --sbom FILE]`: checks what this project takes from others (docs/adr/0049-supply-chain.md).
 * `--sbom` also writes the bill of materials to a file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './checkout.mjs';
import { explain } from './failure.mjs';
import * as advisories from './supply-chain/advisories.mjs';
import * as lockfile from './supply-chain/lockfile.mjs';
import * as sbom from './supply-chain/sbom.mjs';

const { values } = parseArgs({ options: { sbom: { type: 'string' } } });

const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/** @returns {Promise<string[]>} the problems, one sentence each */
async function check() {
  const lock = read('package-lock.json');
  const { allowScripts } = read('package.json');
  const problems = lockfile.problemsOf(lock, allowScripts);
  say(`package-lock.json: ${lockfile.packagesOf(lock.packages).length} packages`);

  const produced = await sbom.produceSbom();
  if ('unavailable' in produced) {
    say(`NOTE: there is no bill of materials (${produced.unavailable}). None was written or checked.`);
  } else {
    const bill = JSON.parse(produced.json);
    problems.push(...sbom.problemsOf(bill, lock));
    if (values.sbom !== undefined) writeFileSync(values.sbom, produced.json);
    say(`Bill of materials: ${bill.components.length} components`);
  }

  const asked = await advisories.askForAdvisories();
  if ('unanswered' in asked) {
    say(`NOTE: the registry does not answer questions about advisories (${asked.unanswered}). None were checked.`);
  } else {
    const today = new Date().toISOString().slice(0, 10);
    problems.push(...advisories.problemsOf(asked.report, advisories.acceptedAdvisories(), today));
    say('Advisories: the registry has answered');
  }
  return problems;
}

try {
  const problems = await check();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
