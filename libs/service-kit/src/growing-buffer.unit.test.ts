import fc from 'fast-check';
import { GrowingBuffer } from './growing-buffer';

test('holds what its chunks held, in at most twice their memory', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (parts) => {
      const chunks = parts.map((part) => Buffer.from(part));
      const all = Buffer.concat(chunks);
      const buffer = new GrowingBuffer();
      for (const chunk of chunks) buffer.append(chunk);
      expect(buffer.bytes()).toEqual(all);
      expect(buffer.length).toBe(all.length);
      expect(buffer.capacity).toBeLessThanOrEqual(2 * all.length);
    }),
  );
});

test('does not copy what arrives in one chunk', () => {
  const chunk = Buffer.from('whole');
  const buffer = new GrowingBuffer();
  buffer.append(chunk);
  expect(buffer.bytes().buffer).toBe(chunk.buffer);
});
