import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * Wraps card data, passwords and keys: JSON, strings, templates and inspection all print `[redacted]`. Reading the
 * value requires {@link Secret.expose}, which is easy to find in a review.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  expose(): T {
    return this.#value;
  }

  toJSON(): string {
    return REDACTED;
  }

  toString(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
