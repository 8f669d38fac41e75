import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type { CardRealm } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import { cardToken, panHash, receiverToken, storageId } from './card-token';

const tokenKey = new Secret(randomBytes(32));
const parts = fc.tuple(fc.string(), fc.string(), fc.string(), fc.string(), fc.string());
type Parts = [string, string, string, string, string];

function tokenOf(
  [merchantAccount, pan, expYear, expMonth, holder]: Parts,
  key = tokenKey,
  realm: CardRealm = 'real',
): string {
  return cardToken(key, merchantAccount, new Secret({ pan, expYear, expMonth, holder }), realm);
}

const card: Parts = ['demo_merchant', '4111111111111111', '2030', '01', 'JANE DOE'];

describe('card token', () => {
  it('is a UUID of version 8: 36 characters', () => {
    fc.assert(
      fc.property(parts, (any) => {
        expect(tokenOf(any)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
  });

  it('is the same exactly when merchant, number, expiry and holder are the same', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(tokenOf(one)).toBe(tokenOf([...one]));
        expect(tokenOf(one) === tokenOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it.each([0, 1, 2, 3, 4])('changes with part %i', (index) => {
    const changed = card.map((part, at) => (at === index ? `${part}1` : part)) as Parts;
    expect(tokenOf(changed)).not.toBe(tokenOf(card));
  });

  it('changes when characters move from one part to the next', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), fc.nat(), fc.nat(), (text, first, second) => {
        const at = (cut: number): Parts => {
          const index = cut % (text.length + 1);
          return [text.slice(0, index), text.slice(index), '', '', ''];
        };
        const [one, other] = [at(first), at(second)];
        expect(tokenOf(one) === tokenOf(other)).toBe(one[0] === other[0]);
      }),
    );
  });

  it('depends on the key', () => {
    expect(tokenOf(card, new Secret(randomBytes(32)))).not.toBe(tokenOf(card));
  });

  it('of a test card is another one than that of the same real card', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(tokenOf(one, tokenKey, 'test')).toBe(tokenOf([...one], tokenKey, 'test'));
        expect(tokenOf(one, tokenKey, 'test')).not.toBe(tokenOf(other, tokenKey, 'real'));
      }),
    );
  });

  it('is stable across releases: this token must never change', () => {
    const fixed = new Secret(Buffer.alloc(32, 7));
    expect(tokenOf(card, fixed)).toBe('9c4b8508-e939-8736-8ebd-d78967dd43b0');
    expect(panHash(fixed, new Secret({ pan: card[1] }))).toBe('bdbb379585659c328955bcc6528481bea9c6b8fd');
  });
});

describe('receiver token', () => {
  const iban = 'DE89370400440532013000';

  it('is the same exactly when merchant and IBAN are the same, and depends on the key', () => {
    const token = receiverToken(tokenKey, 'demo_merchant', iban);
    expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(receiverToken(tokenKey, 'demo_merchant', iban)).toBe(token);
    expect(receiverToken(tokenKey, 'demo_custom', iban)).not.toBe(token);
    expect(receiverToken(tokenKey, 'demo_merchant', 'DE02120300000000202051')).not.toBe(token);
    expect(receiverToken(new Secret(randomBytes(32)), 'demo_merchant', iban)).not.toBe(token);
  });

  it('is stable across releases: this token must never change', () => {
    const fixed = new Secret(Buffer.alloc(32, 7));
    expect(receiverToken(fixed, 'demo_merchant', iban)).toBe('d6594f68-484c-8449-a4a4-9076615a726c');
  });
});

describe('PAN hash', () => {
  it('depends on the number and the key only', () => {
    const hash = panHash(tokenKey, new Secret({ pan: '4111111111111111' }));
    expect(hash).toMatch(/^[0-9a-f]{40}$/);
    expect(panHash(tokenKey, new Secret({ pan: '4111111111111111', holder: 'X' }))).toBe(hash);
    expect(panHash(tokenKey, new Secret({ pan: '5555555555554444' }))).not.toBe(hash);
    expect(panHash(new Secret(randomBytes(32)), new Secret({ pan: '4111111111111111' }))).not.toBe(hash);
  });
});

describe('storage id', () => {
  const owners = fc.record({ merchantAccount: fc.string(), realm: fc.constantFrom('test', 'real') });

  it('fits secure_storage_id, and is the same exactly when merchant, realm and number are the same', () => {
    fc.assert(
      fc.property(owners, owners, fc.string(), fc.string(), (one, other, pan, otherPan) => {
        const id = storageId(tokenKey, one, new Secret({ pan }));
        expect(id).toMatch(/^[0-9a-f]{40}$/);
        const same = JSON.stringify([one.merchantAccount, one.realm, pan]);
        expect(storageId(tokenKey, other, new Secret({ pan: otherPan })) === id).toBe(
          JSON.stringify([other.merchantAccount, other.realm, otherPan]) === same,
        );
        expect(id).not.toBe(panHash(tokenKey, new Secret({ pan })));
      }),
    );
  });
});
