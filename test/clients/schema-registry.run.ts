import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxiosInstance } from 'axios';
import { messages, outsideReaders } from '@gateway/contracts';
import { closeHttpClient, createHttpClient } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { environmentOf, openSpace } from '@gateway/testing';
import { runProvision } from '../../deploy/operations/src/provision';
import type { SchemaRegistry } from '../support/apicurio';
import { startApicurio } from '../support/apicurio';

/** `npm run provision` with a real registry. */

const START_TIMEOUT_MS = 500_000;
const PUBLISHED: readonly string[] = outsideReaders.analytics.consumes;
const EVENTS = messages.filter(({ topic }) => PUBLISHED.includes(topic));

let folder: string;
let registry: SchemaRegistry;
let http: AxiosInstance;
let space: Space;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-registry-'));
  registry = await startApicurio(folder);
  http = createHttpClient({ baseUrl: registry.url, timeoutMs: 20_000 });
}, START_TIMEOUT_MS);
afterAll(async () => {
  closeHttpClient(http);
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  space = await openSpace('registry');
});
afterEach(() => space.remove());

async function provision(url = registry.url) {
  const lines: string[] = [];
  const env = { ...environmentOf(space), SCHEMA_REGISTRY_URL: url };
  return { exitCode: await runProvision([], env, (line) => lines.push(line)), lines };
}

const subjectOf = (type: string): string => `${space.topicPrefix}card.events.v1-${type}`;
const posted = (schema: unknown) => ({ schemaType: 'JSON', schema: JSON.stringify(schema) });

interface CardSchema {
  properties: Record<string, unknown>;
}

function documented(type: string): CardSchema {
  const file = join(__dirname, '..', '..', 'docs', 'schemas', `${type}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as CardSchema;
}

test('it uploads the schema of each event that others read, once', async () => {
  expect(EVENTS.length).toBeGreaterThan(20);
  const [all, url] = [EVENTS.length, registry.url];
  const first = await provision();
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.lines).toContainEqual(`schemas: ${all} of ${all} added to ${url}`);
  expect((await provision()).lines).toContainEqual(`schemas: 0 of ${all} added to ${url}`);

  const subjects = (await http.get<string[]>('/subjects')).data.filter((one) => one.startsWith(space.topicPrefix));
  const { topicPrefix } = space;
  expect(subjects).toContain(`${topicPrefix}payout.events.v1-PayoutAccepted`);
  expect(subjects.length).toBe(all);
  const { data } = await http.get<{ schema: string; version: number }>(
    `/subjects/${subjectOf('CardCharged')}/versions/latest`,
  );
  expect([data.version, JSON.parse(data.schema)]).toEqual([1, documented('CardCharged')]);
});

test('what a later release adds is compatible with it', async () => {
  await provision();
  const schema = documented('CardCharged');
  const later = { ...schema, properties: { ...schema.properties, later: { type: 'string' } } };
  const added = await http.post<unknown>(`/subjects/${subjectOf('CardCharged')}/versions`, posted(later));
  expect([added.status, added.data]).toEqual([200, added.data]);
  const other = { ...schema, properties: { ...schema.properties, amountE4: { type: 'string' } } };
  const refused = await http.post<unknown>(`/subjects/${subjectOf('CardCharged')}/versions`, posted(other));
  expect(refused.status).toBe(409);
});

test('a schema that the registry finds incompatible ends in one sentence, and the rest is provisioned', async () => {
  const subject = subjectOf('CardCharged');
  const schema = documented('CardCharged');
  const before = { ...schema, properties: { ...schema.properties, amountE4: { type: 'string' } } };
  await http.post(`/subjects/${subject}/versions`, posted(before));
  await http.put(`/config/${subject}`, { compatibility: 'FORWARD' });
  const { exitCode, lines } = await provision();
  expect(exitCode).toBe(1);
  expect(lines.at(-1)).toContain(
    `provision failed: the schema of ${subject} is refused as incompatible with the one before by the schema registry: HTTP 409, `,
  );
  expect(lines).toContainEqual(expect.stringMatching(/^topics: /));
});
