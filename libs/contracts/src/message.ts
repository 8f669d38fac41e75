import type { Static, TObject } from '@sinclair/typebox';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { TopicName } from './topics';

/** Accepts unknown fields: a consumer must survive a producer that is one release ahead. */
const ajv = addFormats(new Ajv({ allErrors: true, strict: true, strictTypes: false }));

/** A message type. Its schema is declared once; TypeScript type, validator and documentation follow from it. */
export interface MessageDeclaration<T = unknown> {
  /** The CloudEvents type, e.g. `CardAuthorized`: imperative for commands, past tense for events. */
  readonly type: string;
  readonly topic: TopicName;
  readonly description: string;
  readonly schema: TObject;
  /** The problem of a value, in one line; undefined if it is valid. */
  problem(value: unknown): string | undefined;
  /** Compiles the validator, so that no request waits for it. */
  prepare(): void;
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
  let validate: ReturnType<typeof ajv.compile> | undefined;
  const prepared = () => (validate ??= ajv.compile(schema));
  return {
    type,
    topic,
    description,
    schema,
    problem(value) {
      const isValid = prepared();
      return isValid(value) ? undefined : ajv.errorsText(isValid.errors, { dataVar: type });
    },
    prepare: () => void prepared(),
  };
}
