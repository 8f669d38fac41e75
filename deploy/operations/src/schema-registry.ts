import type { AxiosInstance, AxiosResponse } from 'axios';
import type { MessageDeclaration } from '@gateway/contracts';
import { messages, outsideReaders, publishedSchema } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import { AnswerFields, closeHttpClient, createHttpClient, readJson } from '@gateway/service-kit';
import type { Provisioning } from './settings';

const CALL_TIMEOUT_MS = 10_000;
const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const INCOMPATIBLE = 409;
const NO_SUCH_SUBJECT = 40_401;
const DETAIL_LENGTH_MAX = 300;

/**
 * The promise of docs/messages.md: who reads with the schema of one release reads what later ones write. The usual
 * default of registries, `BACKWARD`, would refuse every new field, because our schemas allow unknown ones.
 */
const COMPATIBILITY = 'FORWARD';

/** Topics that others read. Nobody else may see the rest. */
const published: ReadonlySet<string> = new Set(Object.values(outsideReaders).flatMap(({ consumes }) => consumes));

/** Where Confluent's `TopicRecordNameStrategy` looks: a topic has many types. */
function subjectOf(prefix: string, { topic, type }: MessageDeclaration): string {
  return `${topicOf(prefix, topic)}-${type}`;
}

/**
 * Uploads the schema of each event that others read. What is there already stays, so it can be repeated.
 *
 * @throws Error in one sentence if the registry does not take one; those before it are there then
 */
export async function provisionSchemas({ config, print }: Pick<Provisioning, 'config' | 'print'>): Promise<void> {
  const { SCHEMA_REGISTRY_URL: baseUrl, SCHEMA_REGISTRY_CA_FILE: caFile, TOPIC_PREFIX } = config;
  if (baseUrl === undefined) return;
  const http = createHttpClient({ baseUrl, caFile, timeoutMs: CALL_TIMEOUT_MS, isThirdParty: true });
  const registry = registryAt(http, config);
  const events = messages.filter(({ topic }) => published.has(topic));
  let added = 0;
  try {
    for (const event of events) {
      const isNew = await registry.add(subjectOf(TOPIC_PREFIX, event), publishedSchema(event));
      if (isNew) added += 1;
    }
  } finally {
    closeHttpClient(http);
  }
  print(`schemas: ${added} of ${events.length} added to ${baseUrl}`);
}

interface Registry {
  /** @returns false if this schema is there already */
  add(subject: string, schema: object): Promise<boolean>;
}

function registryAt(
  http: AxiosInstance,
  { SCHEMA_REGISTRY_USER: username, SCHEMA_REGISTRY_PASSWORD: password }: Provisioning['config'],
): Registry {
  const call = async (method: 'POST' | 'PUT', path: string, body: object): Promise<AxiosResponse<unknown>> => {
    const url = http.getUri({ url: path });
    try {
      return await http.request({
        method,
        url: path,
        data: JSON.stringify(body),
        headers: { 'content-type': CONTENT_TYPE, accept: `${CONTENT_TYPE}, application/json` },
        ...(username !== undefined && password !== undefined && { auth: { username, password } }),
      });
    } catch (error) {
      throw new Error(`the schema registry does not answer at ${url}: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    async add(subject, schema) {
      const path = `/subjects/${encodeURIComponent(subject)}`;
      const body = { schemaType: 'JSON', schema: JSON.stringify(schema) };
      const found = await call('POST', path, body);
      if (found.status === 200) return false;
      if (found.status !== 404) throw refusal('cannot be asked for', subject, found);
      if (codeIn(found) === NO_SUCH_SUBJECT) {
        // Before its first version, so that nobody's later choice is undone.
        const set = await call('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: COMPATIBILITY });
        if (set.status !== 200) throw refusal(`does not become ${COMPATIBILITY}`, subject, set);
      }
      const added = await call('POST', `${path}/versions`, body);
      if (added.status === INCOMPATIBLE)
        throw refusal('is refused as incompatible with the one before', subject, added);
      if (added.status !== 200) throw refusal('is refused', subject, added);
      return true;
    },
  };
}

/** NaN if there is none. */
function codeIn({ data }: AxiosResponse<unknown>): number {
  return Number(new AnswerFields(readJson(data)).text('error_code'));
}

function refusal(what: string, subject: string, { status, data }: AxiosResponse<unknown>): Error {
  const said = new AnswerFields(readJson(data)).text('message', Infinity) ?? 'no reason';
  const detail = JSON.stringify(said.slice(0, DETAIL_LENGTH_MAX));
  return new Error(`the schema of ${subject} ${what} by the schema registry: HTTP ${status}, ${detail}`);
}
