import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { RawText } from '@gateway/contracts';
import type { Deadline } from '@gateway/service-kit';
import { GrowingBuffer } from '@gateway/service-kit';

/** None that is known is longer. */
const NAME_LENGTH_MAX = 16;
const ZLIB_METHOD = 8;

/** By the name in `Content-Encoding`. */
const DECODERS: ReadonlyMap<string, (bytes: Buffer) => Transform> = new Map<string, (bytes: Buffer) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // Some servers send it without the frame that RFC 9110 asks for. Its first byte names the method.
  ['deflate', (bytes) => ((bytes[0] ?? 0) % 16 === ZLIB_METHOD ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/** What came with the header `Content-Encoding`. */
export interface EncodedAnswer {
  bytes: Buffer;
  contentEncoding: string;
  /** Only its beginning was received. */
  isCut: boolean;
}

/** `undecoded`: its encoding is unknown or broken, and the bytes are those received. */
export interface DecodedAnswer {
  bytes: Buffer;
  truncated?: true;
  undecoded?: true;
}

/** Requests ask for no encoding, but some servers compress whatever they are asked. */
export function isEncoded(contentEncoding: string | undefined): contentEncoding is string {
  return contentEncoding !== undefined && !['', 'identity'].includes(nameIn(contentEncoding) ?? contentEncoding);
}

/** Decodes until the deadline, and up to a bound: a small answer may decode to a thousand times as much. */
export function decodeAnswer(
  { bytes: received, contentEncoding, isCut }: EncodedAnswer,
  bytesMax: number,
  deadline: Pick<Deadline, 'aborted' | 'addEventListener'>,
): Promise<DecodedAnswer> {
  const undecoded: DecodedAnswer = { bytes: received, undecoded: true };
  const decoder = deadline.aborted ? undefined : DECODERS.get(nameIn(contentEncoding) ?? '')?.(received);
  if (decoder === undefined) return Promise.resolve(undecoded);
  const decoded = new GrowingBuffer();
  return new Promise((resolve) => {
    const end = (answer: DecodedAnswer): void => {
      resolve(answer);
      decoder.destroy();
    };
    decoder.on('data', (chunk: Buffer) => {
      decoded.append(chunk);
      if (decoded.length > bytesMax) end({ bytes: decoded.bytes().subarray(0, bytesMax), truncated: true });
    });
    decoder.on('end', () => end({ bytes: decoded.bytes() }));
    // The beginning of an answer ends too early for every decoder.
    decoder.on('error', () => end(isCut && decoded.length > 0 ? { bytes: decoded.bytes() } : undecoded));
    deadline.addEventListener('abort', () => end(undecoded));
    decoder.end(received);
  });
}

function nameIn(contentEncoding: string): string | undefined {
  return new RawText(contentEncoding).within(NAME_LENGTH_MAX)?.trim().toLowerCase();
}
