import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TopicName } from '@gateway/contracts';
import { DEAD_LETTER_RETENTION_DAYS, topics } from '@gateway/contracts';
import type { System } from './support/system';
import { startSystem } from './support/system';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';

const root = join(__dirname, '..');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Rows of the first table below a heading of docs/scaling.md: name and retention from the first two cells. */
function tableBelow(heading: string): Map<string, string> {
  const text = readFileSync(join(root, 'docs', 'scaling.md'), 'utf8');
  const [, section = ''] = text.split(`\n### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  const rows = table.matchAll(/^\| `([^`]+)` +\| ([^|]+?) +\|/gm);
  return new Map(Array.from(rows, ([, name = '', ends = '']) => [name, ends]));
}

/** Collections of the bank connector for files, which exist only if it is configured. */
function collectionsOfFiles(): string[] {
  const source = readFileSync(join(root, 'services/payout/src/adapters/banks/iso20022/records.ts'), 'utf8');
  return Array.from(source.matchAll(/collection<\w+>\('([^']+)'\)/g), ([, name]) => `payouts.${name}`);
}

let system: System;
let merchant: Merchant;
let storage: Storage;

beforeAll(async () => {
  system = await startSystem('bounds', { withPayouts: true });
  merchant = await startMerchant();
  await system.startThreeds();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
  storage = await openStorage(system.space);
}, 120_000);

afterAll(async () => {
  await storage.close();
  await system.stop();
  await merchant.close();
});

test('the table lists exactly the collections of the whole system', async () => {
  const found = [...(await storage.everything()).keys(), ...collectionsOfFiles()];
  expect([...tableBelow('Collections').keys()].toSorted()).toEqual([...new Set(found)].toSorted());
});

test('exactly the collections that the table marks with TTL have a TTL index', async () => {
  const removed: string[] = [];
  for (const name of (await storage.everything()).keys()) {
    const [database = '', collection = ''] = name.split('.');
    const indexes = await storage.collection(database, collection).indexes();
    if (indexes.some(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)) removed.push(name);
  }
  const existing = new Set((await storage.everything()).keys());
  const said = [...tableBelow('Collections')]
    .filter(([name, ends]) => ends.startsWith('TTL') && existing.has(name))
    .map(([name]) => name);
  expect(said.toSorted()).toEqual(removed.toSorted());
});

test('the table lists every topic with its retention', () => {
  const retention = (ms: number): string => (ms < DAY_MS ? `${ms / MINUTE_MS} minutes` : `${ms / DAY_MS} days`);
  const declared = new Map<string, string>();
  for (const topic of Object.keys(topics) as TopicName[]) {
    const { name, retentionMs, ...rest } = topics[topic];
    declared.set(name, retention(retentionMs));
    if ('deadLetters' in rest) declared.set(rest.deadLetters, retention(DEAD_LETTER_RETENTION_DAYS * DAY_MS));
  }
  const inOrder = (table: Map<string, string>): [string, string][] => [...table].toSorted();
  expect(inOrder(tableBelow('Topics'))).toEqual(inOrder(declared));
});
