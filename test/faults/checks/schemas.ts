import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readerOf } from '../../compatibility/reader';
import { committedSnapshot } from '../../compatibility/snapshot';
import type { Evidence } from '../model/evidence';

const DOCUMENTS = join(__dirname, '..', '..', 'compatibility', 'documents.ts');

/**
 * Every message and document matches the schema of the last release, every message has the key of its topic, and every
 * collection has a schema. Unknown fields and new types are allowed.
 */
export function lastReleaseCanReadAll({ messages, documents }: Evidence): string[] {
  const { topics, ...schemas } = committedSnapshot();
  const readers = new Map(
    Object.entries({ ...schemas.messages, ...schemas.documents }).map(([name, schema]) => [
      name,
      readerOf(schema, name),
    ]),
  );
  const unreadable = messages.flatMap(({ topic, key, value, headers }) => {
    const promised = topics[topic];
    // Dead letters have a check of their own, and need not be JSON.
    if (promised === undefined) return [];
    const data = JSON.parse(value) as Record<string, unknown>;
    const type = headers['ce_type'];
    const problem = readers.get(`${topic}/${type}`)?.(data);
    const wrongKey = data[promised.key] !== key;
    return [
      ...(problem === undefined ? [] : [problem]),
      ...(wrongKey ? [`${topic}: the key of a ${type} is not its ${promised.key}`] : []),
    ];
  });
  const strange = [...documents].flatMap(([name, found]) =>
    found.flatMap((document) => {
      const problem = readers.get(name)?.(document);
      return problem === undefined ? [] : [`${problem} (${document._id})`];
    }),
  );
  return [...unreadable, ...strange, ...undeclared([...documents.keys()])];
}

function undeclared(collections: readonly string[]): string[] {
  const declared = readFileSync(DOCUMENTS, 'utf8');
  return collections
    .filter((name) => !declared.includes(`'${name}':`))
    .map((name) => `${name} has no schema: add it to test/compatibility/documents.ts`);
}
