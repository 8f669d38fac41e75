import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../documents/blocks';
import type { System } from '../support/system';
import { startSystem } from '../support/system';
import type { Page } from './page';
import { openPage, SECTION_TIMEOUT_MS } from './page';

/** Every block of docs/clients.md, as a merchant would run it: in one folder, against a running gateway. */

const DOCUMENT = 'openapi-clients.yaml';

/** What the programs of the page print. */
const OUTCOMES = [
  'SALE success 0',
  'CHECK SUCCESS 0',
  'AUTH success 0',
  'SETTLE success 0',
  'payout pending 0',
  'checkout success 0',
];

let page: Page;
let system: System;

beforeAll(async () => {
  page = openPage('docs/clients.md');
  copyFileSync(join(root, 'docs', DOCUMENT), join(page.folder, DOCUMENT));
  system = await startSystem('clients', { withPayouts: true });
  await run('The generator');
}, SECTION_TIMEOUT_MS);
afterAll(async () => {
  await system.stop();
  page.close();
});

async function run(title: string): Promise<string[]> {
  const commands = page.write(title);
  expect(commands).toHaveLength(1);
  return page.run(commands.join('\n'), { GATEWAY: system.http.defaults.baseURL });
}

test.each(['Java', 'Python', 'Go', 'TypeScript'])(
  'a client in %s sends requests and reads the answers into its types',
  async (title) => {
    const printed = await run(title);
    expect(printed.slice(-OUTCOMES.length)).toEqual(OUTCOMES);
  },
  SECTION_TIMEOUT_MS,
);

test.each(['PHP', 'Types alone, in TypeScript', 'Python, by openapi-python-client'])(
  'what is generated for %s compiles',
  async (title) => {
    await expect(run(title)).resolves.toBeDefined();
  },
  SECTION_TIMEOUT_MS,
);
