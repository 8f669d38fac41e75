/** Length in UTF-8. */
export function sizeOfText(part: Buffer | string): number {
  return typeof part === 'string' ? Buffer.byteLength(part) : part.length;
}

/** Bytes of a variable-length integer; for numbers from 0 to 2^30. */
export function sizeOfVarint(value: number): number {
  return value < 0x40 ? 1 : value < 0x2000 ? 2 : value < 0x10_0000 ? 3 : value < 0x800_0000 ? 4 : 5;
}

/** As kafkajs sends it, after the header that it writes itself. */
export interface WrittenRequest {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

/** Writes the types of Kafka's protocol into a buffer of known size. */
export class ByteWriter {
  readonly bytes: Buffer;
  position = 0;

  constructor(size: number) {
    // Not cleared: the caller has measured, and writes every byte.
    this.bytes = Buffer.allocUnsafe(size);
  }

  int8(value: number): this {
    this.position = this.bytes.writeInt8(value, this.position);
    return this;
  }

  int16(value: number): this {
    this.position = this.bytes.writeInt16BE(value, this.position);
    return this;
  }

  int32(value: number): this {
    this.position = this.bytes.writeInt32BE(value, this.position);
    return this;
  }

  int64(value: bigint): this {
    this.position = this.bytes.writeBigInt64BE(value, this.position);
    return this;
  }

  /** Zigzag; from -1 to 2^30. */
  varint(value: number): this {
    let left = value < 0 ? 1 : value * 2;
    while (left > 0x7f) {
      this.bytes[this.position++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.bytes[this.position++] = left;
    return this;
  }

  /** Text with its length in 16 bits. */
  text(value: string | null): this {
    if (value === null) return this.int16(-1);
    this.int16(Buffer.byteLength(value));
    this.position += this.bytes.write(value, this.position);
    return this;
  }

  /** Text or bytes with their length as a variable-length integer; null has -1. */
  part(value: Buffer | string | null): this {
    if (value === null) return this.varint(-1);
    this.varint(sizeOfText(value));
    if (typeof value === 'string') this.position += this.bytes.write(value, this.position);
    else this.position += value.copy(this.bytes, this.position);
    return this;
  }

  /** @throws if the size was another one. */
  done(): WrittenRequest {
    const { bytes } = this;
    if (this.position !== bytes.length) throw new Error('broken invariant: a request was measured wrongly');
    return { buf: bytes, buffer: bytes };
  }
}
