/** A card number from its first 15 digits at most: the check digit comes last. */
export function panFrom(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return digits + String((10 - (sum % 10)) % 10);
}

/** All forms of a text within another: plain, with separators, in hex, in base64 at any alignment. */
export function appearances(secret: string): { as: string; isIn(text: string): boolean }[] {
  const separated = new RegExp(secret.split('').join('[ -]?'));
  return [
    { as: 'raw', isIn: (text) => separated.test(text) },
    { as: 'hex', isIn: (text) => text.toLowerCase().includes(Buffer.from(secret).toString('hex')) },
    ...[0, 1, 2].map((offset) => {
      const inner = innerBase64(secret, offset);
      const forUrls = inner.replaceAll('+', '-').replaceAll('/', '_');
      return { as: `base64 at ${offset}`, isIn: (text: string) => text.includes(inner) || text.includes(forUrls) };
    }),
  ];
}

/** The characters that do not depend on what comes before and after. */
function innerBase64(secret: string, offset: number): string {
  const whole = Buffer.from('\0'.repeat(offset) + secret)
    .toString('base64')
    .replace(/=+$/, '');
  const end = (offset + secret.length) % 3 === 0 ? whole.length : whole.length - 1;
  return whole.slice(Math.ceil((offset * 8) / 6), end);
}

/** A CVV alone is four digits like any others: it counts only as a separate number, or in hex. */
export function showsCvv(cvv: string, text: string): boolean {
  return (
    new RegExp(`(?<![\\w.-])${cvv}(?![\\w.-])`).test(text) || text.includes(Buffer.from(`"${cvv}"`).toString('hex'))
  );
}
