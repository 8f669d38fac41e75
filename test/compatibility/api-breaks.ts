import type { Document, DocumentedPost, Schema } from '../support/documented-api';

/**
 * What a release must not change for merchants, one sentence each. A request that was accepted stays accepted, and an
 * answer that was understood stays understood: operations, optional fields of requests, fields of answers and codes may be
 * added, as merchants are told to ignore fields that they do not know.
 */
export function apiBreaks(last: Document, now: Document): string[] {
  const breaks = [
    ...Object.entries(last.paths).flatMap(([path, { post }]) => {
      const after = now.paths[path]?.post;
      return after === undefined ? [`${path} is gone.`] : postBreaks(path, post, after);
    }),
    ...operationBreaks(last, now),
    ...Object.keys(last.webhooks).flatMap((name) => (name in now.webhooks ? [] : [`The callback ${name} is gone.`])),
  ];
  // A schema that several refer to is compared for each of them.
  return [...new Set(breaks)];
}

function postBreaks(path: string, before: DocumentedPost, after: DocumentedPost): string[] {
  const goneTypes = Object.keys(before.requestBody.content).filter((type) => !(type in after.requestBody.content));
  const newStatuses = Object.keys(after.responses).filter((status) => !(status in before.responses));
  const goneHeaders = Object.entries(before.responses).flatMap(([status, { headers }]) =>
    Object.keys(headers)
      .filter((name) => after.responses[status] !== undefined && !(name in after.responses[status].headers))
      .map((name) => `${path} no longer answers ${status} with ${name}.`),
  );
  return [
    ...goneTypes.map((type) => `${path} no longer takes ${type}.`),
    ...newStatuses.map((status) => `${path} answers with the status ${status}, which merchants do not know.`),
    ...goneHeaders,
  ];
}

function operationBreaks(last: Document, now: Document): string[] {
  const after = new Map(
    Object.values(now.paths).flatMap(({ post }) => post['x-operations'].map((one) => [one.title, one] as const)),
  );
  const requests = new Map<string, string>();
  const answers = new Set<string>(['CardCallback', 'PayoutCallback']);
  const gone: string[] = [];
  for (const { post } of Object.values(last.paths)) {
    for (const { title, request, answers: shapes } of post['x-operations']) {
      const same = after.get(title);
      if (same === undefined) gone.push(`The operation ${title} is gone.`);
      else requests.set(request, same.request);
      for (const shape of shapes) answers.add(shape);
    }
  }
  const [was, is] = [last.components.schemas, now.components.schemas];
  return [
    ...gone,
    ...[...requests].flatMap(([before, same]) =>
      new Comparison(was, is, 'request').breaks(before, was[before] ?? {}, is[same] ?? {}),
    ),
    ...[...answers].flatMap((title) => {
      const [before, same] = [was[title], is[title]];
      if (before === undefined) return [];
      return same === undefined
        ? [`The answer ${title} is gone.`]
        : new Comparison(was, is, 'answer').breaks(title, before, same);
    }),
  ];
}

type Schemas = Document['components']['schemas'];

/** Larger is narrower for the first ones, wider for the others. */
const LOWER = ['minLength', 'minimum', 'minItems'];
const UPPER = ['maxLength', 'maximum', 'maxItems'];
/** Compared whole. */
const OTHER = ['type', 'const', 'pattern', 'format', 'not', 'dependentRequired', 'oneOf', 'anyOf', 'allOf'];

/** Compares a schema of both releases, references followed. */
class Comparison {
  constructor(
    private readonly was: Schemas,
    private readonly is: Schemas,
    private readonly side: 'request' | 'answer',
  ) {}

  breaks(place: string, before: Schema, after: Schema): string[] {
    if ('$ref' in before) return this.#referred(nameIn(before['$ref']), after);
    const [old, next] = [before, '$ref' in after ? (this.is[nameIn(after['$ref'])] ?? {}) : after];
    const variants = this.#variants(place, old, next);
    if (variants !== undefined) return variants;
    return [
      ...this.#properties(place, old, next),
      ...this.#values(place, old, next),
      ...this.#bounds(place, old, next),
      ...this.#items(place, old, next),
      ...OTHER.flatMap((name) => {
        const [a, b] = [JSON.stringify(old[name]), JSON.stringify(next[name])];
        const isWider = this.side === 'request' && b === undefined;
        return a === b || isWider ? [] : [`${place} has another ${name}.`];
      }),
    ];
  }

  /** A component is its own place. */
  #referred(name: string, after: Schema): string[] {
    return this.breaks(name, this.was[name] ?? {}, after);
  }

  /** A union of named schemas, by their names. */
  #variants(place: string, old: Schema, next: Schema): string[] | undefined {
    const names = (schema: Schema): string[] | undefined => {
      const union = schema['oneOf'] as Schema[] | undefined;
      return union?.every((one) => '$ref' in one) === true ? union.map(({ $ref }) => nameIn($ref)) : undefined;
    };
    const [before, after] = [names(old), names(next)];
    if (before === undefined || after === undefined) return undefined;
    return before.flatMap((name) =>
      after.includes(name)
        ? this.breaks(name, this.was[name] ?? {}, this.is[name] ?? {})
        : [`${place} no longer takes ${name}.`],
    );
  }

  #properties(place: string, old: Schema, next: Schema): string[] {
    const [was, is] = [propertiesOf(old), propertiesOf(next)];
    const [needed, needs] = [requiredOf(old), requiredOf(next)];
    const known = Object.entries(was).flatMap(([name, schema]) => {
      const same = is[name];
      if (same === undefined) return [`${place}.${name} is gone.`];
      return this.breaks(`${place}.${name}`, schema, same);
    });
    const demanded =
      this.side === 'request'
        ? needs.filter((name) => !needed.includes(name)).map((name) => `${place}.${name} has become required.`)
        : needed
            .filter((name) => name in is && !needs.includes(name))
            .map((name) => `${place}.${name} is no longer always there.`);
    return [...known, ...demanded];
  }

  /** Requests may take more values than before. Answers may not tell others, apart from codes, which are an open list. */
  #values(place: string, old: Schema, next: Schema): string[] {
    const [was, is] = [valuesOf(old), valuesOf(next)];
    if (was === undefined) return is === undefined || this.side === 'answer' ? [] : [`${place} takes fewer values.`];
    if (is === undefined) return this.side === 'request' ? [] : [`${place} may have any value.`];
    const gone = was.filter((value) => !is.includes(value)).map((value) => `${place} no longer has ${String(value)}.`);
    const isOpen =
      this.side === 'request' || was.every((value) => typeof value === 'number' || /^\d+$/.test(String(value)));
    const added = isOpen ? [] : is.filter((value) => !was.includes(value));
    return [...gone, ...added.map((value) => `${place} may be ${String(value)}, which merchants do not know.`)];
  }

  #bounds(place: string, old: Schema, next: Schema): string[] {
    return [...LOWER, ...UPPER].flatMap((name) => {
      const [was, is] = [old[name] as number | undefined, next[name] as number | undefined];
      if (was === is) return [];
      const isLower = LOWER.includes(name);
      const open = isLower ? -Infinity : Infinity;
      const isNarrower = (is ?? open) > (was ?? open) === isLower;
      return isNarrower === (this.side === 'request')
        ? [`${place}: ${name} was ${was ?? 'not set'} and is ${is ?? 'not set'}.`]
        : [];
    });
  }

  #items(place: string, old: Schema, next: Schema): string[] {
    const [before, after] = [old['items'] as Schema | undefined, next['items'] as Schema | undefined];
    return before === undefined || after === undefined ? [] : this.breaks(`${place}[]`, before, after);
  }
}

const nameIn = (reference: unknown): string => String(reference).split('/').at(-1) ?? '';

const propertiesOf = (schema: Schema) => (schema['properties'] ?? {}) as Record<string, Schema>;
const requiredOf = (schema: Schema) => (schema['required'] ?? []) as string[];
const valuesOf = (schema: Schema) => schema['enum'] as unknown[] | undefined;
