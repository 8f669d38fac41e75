/** Control characters such as tabs are no spaces: rules refuse them. */
const OTHER_THAN_SPACE = /[^\p{Zs}]/u;
const BLANK_LENGTH_MAX = 255;

/**
 * Text from outside, of whatever length. No rule takes it: it can only be bounded, and what comes out is a string. So no
 * regular expression, normalization, mask or loop sees a text before its length is known to be small (docs/adr/0072).
 *
 * Lengths are in UTF-16 units. Invisible to JSON and to string templates, which would go around the bound.
 */
export class RawText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** No text, or only spaces, of any width. A longer text than free text may have is not looked at, and is none. */
  get isBlank(): boolean {
    return this.#text.length <= BLANK_LENGTH_MAX && !OTHER_THAN_SPACE.test(this.#text);
  }

  /** The text; undefined if it is longer than `maxLength`. */
  within(maxLength: number): string | undefined {
    return this.#text.length <= maxLength ? this.#text : undefined;
  }

  /** The first `maxLength` units of the text. */
  start(maxLength: number): string {
    return this.#text.slice(0, maxLength);
  }

  is(text: string): boolean {
    return this.#text === text;
  }

  toString(): string {
    return '[raw text]';
  }

  toJSON(): string {
    return '[raw text]';
  }
}

/** For what may be missing, such as a header. */
export function rawText(text: string | undefined): RawText | undefined {
  return text === undefined ? undefined : new RawText(text);
}
