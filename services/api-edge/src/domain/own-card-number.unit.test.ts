import { countWork } from '@gateway/testing';
import fc from 'fast-check';
import { showsCardNumber } from './own-card-number';

const PAN = '4111111111111111';

it.each([
  PAN,
  `order-${PAN}-1`,
  `9${PAN}9`,
  '4111 1111 1111 1111',
  '4111-1111-1111-1111',
  '4111.1111.1111.1111',
  '4111/1111/1111/1111',
  '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
  '4111\u00a01111\u20091111\u20101111',
  '4111 -- 1111 -- 1111 -- 1111',
  '(4111) 1111, 1111; 1111',
  '4111%201111%201111%201111',
  '4111%2D1111%2d1111%2D1111',
  '%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31',
  '%2534111111111111111',
  '4111%252D1111%252D1111%252D1111',
  '4111%C2%A01111%E2%80%901111%C2%A01111',
  '４１１１１１１１１１１１１１１１',
  '٤١١١ ١١١١ ١١١١ ١١١١',
  '४१११११११११११११११',
  '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏',
  '\u{116de}\u{116db}\u{116db}\u{116db}1111 1111 1111',
  '④①①①①①①①①①①①①①①①',
])('is found in %j', (text) => expect(showsCardNumber(text, PAN)).toBe(true));

it.each([
  '',
  '4111',
  '411111111111111',
  '411111******1111',
  '4111 1111 1111 111x',
  '5555555555554444',
  '1111111111111114',
  '%3411111111111111%',
  '%',
  '%%%%%%%%%%%%%%%%%%%%',
])('is not found in %j', (text) => expect(showsCardNumber(text, PAN)).toBe(false));

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 13, maxLength: 19 });
const separator = fc.constantFrom(
  '',
  ' ',
  '-',
  '.',
  '/',
  '_',
  ', ',
  '\u00a0',
  '\u2011',
  '%20',
  '%2D',
  '%2F',
  '%252E',
  'x',
);
const around = fc.string({ maxLength: 40 });
/** The ways in which a digit can be written. */
const writing = fc.constantFrom<(digit: string) => string>(
  (digit) => digit,
  (digit) => `%3${digit}`,
  (digit) => String.fromCodePoint(0xff10 + Number(digit)),
  (digit) => String.fromCodePoint(0x0660 + Number(digit)),
  (digit) => String.fromCodePoint(0x1d7ec + Number(digit)),
);

it('is found however it is separated, encoded and surrounded', () => {
  const written = digits.chain((number) =>
    fc.tuple(
      fc.constant(number),
      fc.array(fc.tuple(separator, writing), { minLength: number.length, maxLength: number.length }),
    ),
  );
  fc.assert(
    fc.property(written, around, around, ([number, marks], before, after) => {
      // A cut escape before a digit would change it.
      fc.pre(!before.includes('%'));
      const text = marks.map(([between, write], index) => between + write(number[index]!)).join('');
      expect(showsCardNumber(`${before} ${text} ${after}`, number)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

it('is not found in text with other digits', () => {
  const differs = fc.tuple(digits, fc.nat(18), fc.integer({ min: 1, max: 9 })).map(([number, at, by]) => {
    const place = at % number.length;
    const changed = String((Number(number[place]) + by) % 10);
    return [number, number.slice(0, place) + changed + number.slice(place + 1)] as const;
  });
  fc.assert(fc.property(differs, ([number, other]) => expect(showsCardNumber(`no ${other}`, number)).toBe(false)));
});

it('takes any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void showsCardNumber(text, PAN)));
});

it.each(['%25', '%', '1', '４', '\u{116de}', '\ufdfa', '%32%35'])(
  'costs in proportion to the length of a text of %j',
  async (unit) => {
    const work = (units: number) => countWork(() => showsCardNumber(unit.repeat(units), PAN));
    const short = await work(4_096);
    expect(short).toBeGreaterThan(0);
    expect(await work(16_384)).toBeLessThanOrEqual(4 * short);
  },
);
