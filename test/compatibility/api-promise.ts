import type { Document } from '../support/documented-api';

const TEXTS = ['description', 'summary', 'operationId'];
const ELSEWHERE = ['example', 'examples', 'tags'];

/** The document without the texts and examples, which promise nothing. */
export function apiPromise(document: Document): Document {
  const { paths, webhooks, components } = document;
  return bare({ paths, webhooks, components: { schemas: components.schemas } }) as Document;
}

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  // A field of that name has a schema, which is no text.
  const promised = Object.entries(value).filter(
    ([key, part]) => !(TEXTS.includes(key) && typeof part === 'string') && !ELSEWHERE.includes(key),
  );
  return Object.fromEntries(promised.map(([key, part]) => [key, bare(part)]));
}
