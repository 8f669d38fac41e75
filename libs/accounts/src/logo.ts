import { crc32 } from 'node:zlib';

export const LOGO_BYTES_MAX = 8 * 1024;
const WIDTH_MAX = 640;
const HEIGHT_MAX = 256;
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** PNG, second edition, 11.2: what an image needs. Texts, times and animations are no part of a logo. */
const CHUNKS = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'sBIT', 'bKGD', 'pHYs']);
const LENGTH_BYTES = 4;
const TYPE_BYTES = 4;
const CRC_BYTES = 4;

export const LOGO_RULE = `a PNG of at most ${LOGO_BYTES_MAX} bytes and ${WIDTH_MAX} × ${HEIGHT_MAX} pixels, without metadata or animation`;

/**
 * True for an image that {@link LOGO_RULE} describes, by its content: every byte belongs to a known chunk with a right
 * checksum. What the chunks say is not decoded; browsers get it as an image and nothing else.
 */
export function isLogo(png: Buffer): boolean {
  if (png.length > LOGO_BYTES_MAX || !png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return false;
  const types: string[] = [];
  let at = SIGNATURE.length;
  while (at < png.length) {
    const chunk = chunkAt(png, at);
    if (chunk === undefined) return false;
    if (types.length === 0 ? !isHeader(chunk) : chunk.type === 'IHDR') return false;
    types.push(chunk.type);
    at = chunk.end;
  }
  return types.includes('IDAT') && types.indexOf('IEND') === types.length - 1;
}

interface Chunk {
  type: string;
  data: Buffer;
  end: number;
}

function chunkAt(png: Buffer, at: number): Chunk | undefined {
  const typeAt = at + LENGTH_BYTES;
  const dataAt = typeAt + TYPE_BYTES;
  if (dataAt > png.length) return undefined;
  const dataEnd = dataAt + png.readUInt32BE(at);
  const end = dataEnd + CRC_BYTES;
  if (end > png.length || crc32(png.subarray(typeAt, dataEnd)) !== png.readUInt32BE(dataEnd)) return undefined;
  const type = png.toString('latin1', typeAt, dataAt);
  return CHUNKS.has(type) ? { type, data: png.subarray(dataAt, dataEnd), end } : undefined;
}

const HEADER_BYTES = 13;
const HEIGHT_AT = 4;

function isHeader({ type, data }: Chunk): boolean {
  if (type !== 'IHDR' || data.length !== HEADER_BYTES) return false;
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(HEIGHT_AT)];
  return width >= 1 && width <= WIDTH_MAX && height >= 1 && height <= HEIGHT_MAX;
}

/** As it is stored and shown, in base64. */
export function isStoredLogo(text: string): boolean {
  const png = Buffer.from(text, 'base64');
  return png.toString('base64') === text && isLogo(png);
}

/** One line for people. */
export function describeLogo(text: string | undefined): string {
  return text === undefined ? 'none' : `PNG, ${Buffer.byteLength(text, 'base64')} bytes`;
}
