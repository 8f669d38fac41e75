import type { Static, TObject, TSchema } from '@sinclair/typebox';
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
  readonly schema: TObject;
  /** Carries the TypeScript type; has no value. */
  readonly __data?: T;
}

export type DataOf<D> = D extends MessageDeclaration<infer T> ? T : never;

export function declareMessage<S extends TObject>(
  topic: TopicName,
  type: string,
  description: string,
  schema: S,
): MessageDeclaration<Static<S>> {
  return { type, topic, description, schema, ...validatorOf(schema, type) };
}
