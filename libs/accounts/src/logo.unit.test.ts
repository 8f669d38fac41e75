import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { isLogo, isStoredLogo } from './logo';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

function header(width: number, height: number): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return chunk('IHDR', data);
}

const PIXEL = chunk('IDAT', deflateSync(Buffer.from([0, 0])));
const END = chunk('IEND', Buffer.alloc(0));
const png = (...chunks: Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...chunks]);
const RIGHT = png(header(1, 1), PIXEL, END);

test('takes a small PNG', () => {
  expect(isLogo(RIGHT)).toBe(true);
  expect(isLogo(png(header(640, 256), chunk('gAMA', Buffer.alloc(4)), PIXEL, PIXEL, END))).toBe(true);
  expect(isStoredLogo(RIGHT.toString('base64'))).toBe(true);
});

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['another kind of file', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a signature alone', SIGNATURE],
  ['no header', png(PIXEL, END)],
  ['no pixels', png(header(1, 1), END)],
  ['no end', png(header(1, 1), PIXEL)],
  ['something after the end', Buffer.concat([RIGHT, Buffer.from('<script>')])],
  ['a chunk after the end', png(header(1, 1), PIXEL, END, END)],
  ['too many pixels', png(header(641, 1), PIXEL, END)],
  ['a height that no screen has', png(header(1, 2 ** 31), PIXEL, END)],
  ['a second header', png(header(1, 1), header(9_999, 9_999), PIXEL, END)],
  ['no pixels by its header', png(header(0, 1), PIXEL, END)],
  ['a text', png(header(1, 1), chunk('tEXt', Buffer.from('Comment\0x')), PIXEL, END)],
  ['an animation', png(header(1, 1), chunk('acTL', Buffer.alloc(8)), PIXEL, END)],
  ['too many bytes', png(header(1, 1), chunk('IDAT', Buffer.alloc(8 * 1024)), END)],
])('refuses %s', (_what, bytes) => expect(isLogo(bytes)).toBe(false));

test('refuses a file that was changed anywhere', () => {
  fc.assert(
    fc.property(fc.nat(RIGHT.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(RIGHT);
      changed.writeUInt8(changed.readUInt8(at) ^ change, at);
      expect(isLogo(changed)).toBe(false);
    }),
  );
});

test('is stored in one form', () => {
  for (const text of ['', `${RIGHT.toString('base64')}\n`, RIGHT.toString('base64url'), `"${RIGHT.toString('base64')}`])
    expect(isStoredLogo(text)).toBe(false);
});
