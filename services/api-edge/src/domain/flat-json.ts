/** RFC 8259's number. Sticky: it matches where the reader is. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/;

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** The text is no flat JSON object. */
class NotFlat extends Error {}

/**
 * Reads a JSON object (RFC 8259) whose values are texts, numbers, booleans and null, in the order of its names. Ends at
 * the first object, array, repeated name or name too many, before anything is built from it. For all other texts it
 * takes what JSON.parse takes and gives the same values: a number out of range is Infinity, and half a surrogate pair
 * stays one. One pass over the text; nothing is visited twice but the escapes.
 *
 * @returns undefined for anything else
 */
export function readFlatJson<Text>(
  text: string,
  namesMax: number,
  asText: (value: string) => Text,
): Map<string, Text | number | boolean | null> | undefined {
  try {
    return new FlatJson(text, namesMax, asText).read();
  } catch (error) {
    if (error instanceof NotFlat) return undefined;
    throw error;
  }
}

class FlatJson<Text> {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly namesMax: number,
    private readonly asText: (value: string) => Text,
  ) {}

  read(): Map<string, Text | number | boolean | null> {
    const fields = new Map<string, Text | number | boolean | null>();
    this.#skipSpace();
    this.#expect('{');
    this.#skipSpace();
    if (!this.#skip('}')) {
      do this.#readField(fields);
      while (this.#skip(','));
      this.#expect('}');
    }
    this.#skipSpace();
    if (this.#at < this.text.length) throw new NotFlat();
    return fields;
  }

  #readField(fields: Map<string, Text | number | boolean | null>): void {
    this.#skipSpace();
    const name = this.#readText();
    if (fields.has(name) || fields.size === this.namesMax) throw new NotFlat();
    this.#skipSpace();
    this.#expect(':');
    this.#skipSpace();
    fields.set(name, this.#readValue());
    this.#skipSpace();
  }

  #readValue(): Text | number | boolean | null {
    if (this.text[this.#at] === '"') return this.asText(this.#readText());
    for (const [written, value] of LITERALS) if (this.#skip(written)) return value;
    NUMBER.lastIndex = this.#at;
    const [written] = NUMBER.exec(this.text) ?? [];
    if (written === undefined) throw new NotFlat();
    this.#at += written.length;
    return Number(written);
  }

  #readText(): string {
    this.#expect('"');
    let read = '';
    let from = this.#at;
    for (;;) {
      const unit = this.text.charCodeAt(this.#at);
      // NaN is the end of the text.
      if (!(unit >= 0x20)) throw new NotFlat();
      if (unit !== QUOTE && unit !== BACKSLASH) {
        this.#at += 1;
        continue;
      }
      read += this.text.slice(from, this.#at);
      this.#at += 1;
      if (unit === QUOTE) return read;
      read += this.#readEscape();
      from = this.#at;
    }
  }

  /** After the backslash. */
  #readEscape(): string {
    const letter = this.text[this.#at] ?? '';
    this.#at += 1;
    if (letter === 'u') return this.#readCodeUnit();
    if (!Object.hasOwn(ESCAPED, letter)) throw new NotFlat();
    return ESCAPED[letter] ?? '';
  }

  #readCodeUnit(): string {
    const digits = this.text.slice(this.#at, this.#at + 4);
    if (!FOUR_HEX_DIGITS.test(digits)) throw new NotFlat();
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #skipSpace(): void {
    for (; ; this.#at += 1) {
      const unit = this.text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) return;
    }
  }

  #skip(written: string): boolean {
    if (!this.text.startsWith(written, this.#at)) return false;
    this.#at += written.length;
    return true;
  }

  #expect(written: string): void {
    if (!this.#skip(written)) throw new NotFlat();
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
