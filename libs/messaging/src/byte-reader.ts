const TWO_32 = 0x1_0000_0000;

/** Reads the types of Kafka's protocol. Slices share the memory of the buffer. */
export class ByteReader {
  position = 0;

  constructor(readonly bytes: Buffer) {}

  left(): number {
    return this.bytes.length - this.position;
  }

  skip(bytes: number): void {
    this.position += bytes;
  }

  int8(): number {
    this.position += 1;
    return this.bytes.readInt8(this.position - 1);
  }

  int16(): number {
    this.position += 2;
    return this.bytes.readInt16BE(this.position - 2);
  }

  int32(): number {
    this.position += 4;
    return this.bytes.readInt32BE(this.position - 4);
  }

  /** @throws RangeError for a number that JavaScript cannot represent; no offset or timestamp is so large. */
  safeInt64(): number {
    const value = this.int32() * TWO_32 + this.bytes.readUInt32BE(this.position);
    this.position += 4;
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a safe integer`);
    return value;
  }

  /** Variable-length and zigzag; also for 64 bits, up to a safe integer. */
  varint(): number {
    let value = 0;
    let unit = 1;
    for (;;) {
      const byte = this.bytes.readUInt8(this.position);
      this.position += 1;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) break;
      unit *= 0x80;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  take(bytes: number): Buffer {
    if (bytes < 0 || bytes > this.left()) throw new RangeError(`${bytes} of ${this.left()} bytes`);
    this.position += bytes;
    return this.bytes.subarray(this.position - bytes, this.position);
  }

  /** Bytes with their length as a variable-length integer. */
  part(): Buffer | null {
    const bytes = this.varint();
    return bytes === -1 ? null : this.take(bytes);
  }

  /** Text with its length in 16 bits. */
  text(): string {
    return this.take(this.int16()).toString();
  }
}
