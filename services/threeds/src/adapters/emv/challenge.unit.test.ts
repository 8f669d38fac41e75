import { RawText } from '@gateway/contracts';
import fc from 'fast-check';
import { pageIdIn, transactionOfCres } from './challenge';

const IDS = {
  threeDSServerTransId: '8a880dc0-d2d2-4067-bcb1-b08d1690b26e',
  acsTransId: '0df2ea3c-1b5f-4e4f-9f2c-6a2f1d1f0c11',
};
const MESSAGE = { threeDSServerTransID: IDS.threeDSServerTransId, acsTransID: IDS.acsTransId };

test('a message is read from either alphabet of Base64, however it is padded and wrapped', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom<BufferEncoding>('base64', 'base64url'),
      fc.integer({ min: 4, max: 80 }),
      fc.constantFrom('\n', '\r\n', ' '),
      (extension, alphabet, width, end) => {
        const text = Buffer.from(JSON.stringify({ ...MESSAGE, extension })).toString(alphabet);
        const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        for (const cres of [text, `${text}==`, lines.join(end)])
          expect(transactionOfCres(new RawText(cres))).toEqual(IDS);
      },
    ),
  );
});

test('whatever comes, nothing throws', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.json().map((json) => Buffer.from(json).toString('base64')),
  );
  fc.assert(
    fc.property(anything, (text) => {
      expect(transactionOfCres(new RawText(text))).toEqual({});
      pageIdIn(new RawText(text));
    }),
  );
});

test('what is too long is not read', () => {
  const message = (length: number) =>
    Buffer.from(JSON.stringify({ ...MESSAGE, extension: 'x'.repeat(length) })).toString('base64url');
  expect(transactionOfCres(new RawText(message(20_000)))).toEqual(IDS);
  expect(transactionOfCres(new RawText(message(30_000)))).toEqual({});
  expect(pageIdIn(new RawText('A'.repeat(255)))).toBe('A'.repeat(255));
  expect(pageIdIn(new RawText('A'.repeat(256)))).toBeUndefined();
});

test('an id that is missing or malformed is left out', () => {
  const cresOf = (message: object) => new RawText(Buffer.from(JSON.stringify(message)).toString('base64url'));
  expect(transactionOfCres(cresOf({ ...MESSAGE, acsTransID: 7 }))).toEqual({
    threeDSServerTransId: IDS.threeDSServerTransId,
  });
  expect(transactionOfCres(cresOf({ acsTransID: IDS.acsTransId.toUpperCase() }))).toEqual({
    acsTransId: IDS.acsTransId,
  });
  expect(transactionOfCres(cresOf([MESSAGE]))).toEqual({});
  expect(transactionOfCres(undefined)).toEqual({});
});
