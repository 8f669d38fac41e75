import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { TopicName } from './topics';

/**
 * Accepts unknown fields: a reader must survive a writer that is one release ahead. Tests check the schemas themselves
 * by JSON Schema's own, which would be compiled at each start.
 */
const ajv = addFormats(new Ajv({ allErrors: true, strict: true, strictTypes: false, validateSchema: false }));

/** Checks values by a schema. */
export interface Validator {
  /** The problem of a value, in one line; undefined if it is valid. */
  problem(value: unknown): string | undefined;
  /** Compiles the schema, so that no request waits for it. */
  prepare(): void;
}

/** @param name begins the line about a problem */
export function validatorOf(schema: TSchema, name: string): Validator {
  let validate: ReturnType<typeof ajv.compile> | undefined;
  const prepared = () => (validate ??= ajv.compile(schema));
  return {
    problem(value) {
      const isValid = prepared();
      return isValid(value) ? undefined : ajv.errorsText(isValid.errors, { dataVar: name });
    },
    prepare: () => void prepared(),
  };
}

/** A message type. Its schema is declared once; TypeScript type, validator and documentation follow from it. */
export interface MessageDeclaration<T = unknown> extends Validator {
  /** The CloudEvents type, e.g. `CardAuthorized`: imperative for commands, past tense for events. */
  readonly type: string;
  readonly topic: TopicName;
  readonly description: string;
  /** What readers of the gateway accept: also what the last release wrote (ADR 0053). */
  readonly schema: TObject;
  /** What this release writes: the same, or narrower. For readers outside. */
  readonly written: TObject;
  /** Carries the TypeScript type; has no value. */
  readonly __data?: T;
}

export type DataOf<D> = D extends MessageDeclaration<infer T> ? T : never;

/** @param written if it is narrower than `schema`; see {@link narrowed} */
export function declareMessage<S extends TObject>(
  topic: TopicName,
  type: string,
  description: string,
  schema: S,
  written: TObject = schema,
): MessageDeclaration<Static<S>> {
  return { type, topic, description, schema, written, ...validatorOf(schema, type) };
}

/**
 * A schema with fewer values: fields that are always there, and fields with a schema that accepts less. What matches it
 * matches the first one, too.
 */
export function narrowed(
  schema: TObject,
  { always = [], fields = {} }: { always?: readonly string[]; fields?: TProperties },
): TObject {
  const required = [...new Set([...(schema.required ?? []), ...always])];
  return { ...schema, properties: { ...schema.properties, ...fields }, required };
}
