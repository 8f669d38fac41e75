import type { AxiosResponse } from 'axios';
import { readJson } from './read-json';

/** Of an id, a name or a reason. The interface shows merchants no more of a bank's words. */
export const ANSWER_TEXT_MAX = 255;

/**
 * The fields of an object in a counterpart's answer. They may be of any type, length and depth, so a reader gets only
 * what it asks for: a bounded text, one of a few words, an object or a list. Nothing is converted: an object throws then,
 * an empty list becomes 0, and so does null.
 */
export class AnswerFields {
  readonly #fields: object;

  /** Without fields, if `value` is no object. */
  constructor(value: unknown) {
    this.#fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  }

  /** Counterparts write ids as text or as numbers. A longer text is left out: a part of an id would be another id. */
  text(name: string, maxLength = ANSWER_TEXT_MAX): string | undefined {
    const value = this.#own(name);
    // A number that is not exact would be another id.
    if (typeof value === 'number') return Number.isSafeInteger(value) || isFraction(value) ? String(value) : undefined;
    return typeof value === 'string' && value.length <= maxLength ? value : undefined;
  }

  /** A text that is one of these. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    return words.find((word) => word === this.#own(name));
  }

  object(name: string): AnswerFields {
    return new AnswerFields(this.#own(name));
  }

  /** At most `max` objects of a list, from its beginning. */
  list(name: string, max: number): AnswerFields[] {
    const value = this.#own(name);
    return Array.isArray(value) ? value.slice(0, max).map((one) => new AnswerFields(one)) : [];
  }

  #own(name: string): unknown {
    return Object.getOwnPropertyDescriptor(this.#fields, name)?.value;
  }
}

/** The fields of an answer to {@link createHttpClient}'s client; none unless its status is 200. */
export function fieldsIn({ status, data }: AxiosResponse<unknown>): AnswerFields {
  return new AnswerFields(status === 200 ? readJson(data) : undefined);
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}
