import type { JsonSchema } from '../../application/answer-shapes';

const PREFIX = '#/components/schemas/';

/** Collects every schema that has a `title` under that name, and leaves a reference in its place. */
export class Components {
  readonly #schemas = new Map<string, unknown>();

  /** The schema with references in place of all titled schemas within it, and of itself. */
  take(schema: JsonSchema): JsonSchema {
    return this.#replaced(schema) as JsonSchema;
  }

  /** By name. */
  all(): Record<string, unknown> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #replaced(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#replaced(item));
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, this.#replaced(part)]));
    // `title` is also the name of a field; then it is no text.
    const { title } = value as { title?: unknown };
    if (typeof title !== 'string') return inner;
    const known = this.#schemas.get(title);
    if (known === undefined) this.#schemas.set(title, inner);
    else if (JSON.stringify(known) !== JSON.stringify(inner)) throw new Error(`two schemas are called ${title}`);
    return { $ref: PREFIX + title };
  }
}

/** Where a component is referred to. */
export const componentReference = (title: string): string => PREFIX + title;
