/**
 * Collects what arrives in chunks. A list of the chunks would take 300 bytes for each of them, and a client may send every
 * byte as a chunk.
 */
export class GrowingBuffer {
  #held: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Bytes of memory: at most twice the length. */
  get capacity(): number {
    return this.#held.length;
  }

  append(chunk: Buffer): void {
    // Most contents arrive in one chunk. That is kept as it is.
    if (this.#length === 0) this.#held = chunk;
    else this.#copy(chunk);
    this.#length += chunk.length;
  }

  #copy(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#held.length) {
      // Not from Node's pool, of which each small piece would keep 8 KiB.
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    chunk.copy(this.#held, this.#length);
  }

  /** Valid until the next `append`. */
  bytes(): Buffer {
    return this.#held.subarray(0, this.#length);
  }
}
