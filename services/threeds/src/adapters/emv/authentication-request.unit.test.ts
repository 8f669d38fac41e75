import { Secret, TEST_CARDS } from '@gateway/contracts';
import fc from 'fast-check';
import { AREQ_ELEMENTS, authenticationRequest } from './authentication-request';

const OWN = { results: 'https://a.example/r', notification: 'https://a.example/n', publicUrl: 'https://a.example' };

interface People {
  holder?: string;
  email?: string;
  ip?: string;
  merchantName?: string;
}

function requestOf({ holder = 'Ann Lee', email = 'ann@example.com', ip = '192.0.2.1', merchantName = 'S' }: People) {
  return authenticationRequest(
    {
      threeDSServerTransId: '8a880dc0-d2d2-4067-bcb1-b08d1690b26e',
      card: new Secret({ pan: TEST_CARDS.challenged.visa, expMonth: '12', expYear: '2030', holder }),
      customer: { firstName: 'Ann', lastName: 'Lee', country: 'DEU', email, ip },
      merchantAccount: 'shop_one',
      merchantName,
      midReference: 'MD0123456789ABCD',
      amountE4: 100_000,
      currency: 'XTS',
      acceptedAt: 0,
      isTooLate: () => false,
    },
    OWN,
  );
}

test.each<[People, object]>([
  [{ holder: 'Zoë Müller-Łęcka' }, { cardholderName: 'Zoe Muller-Lecka' }],
  [{ holder: '山田 花子' }, { cardholderName: undefined }],
  [{ email: 'jürgen@example.de' }, { email: undefined }],
  [{ ip: '::ffff:203.0.113.7' }, { browserIP: '203.0.113.7' }],
  [{ merchantName: '山田' }, { merchantName: 'shop_one', threeDSRequestorName: 'shop_one' }],
])('%j is sent in EMV’s characters', (people, expected) => {
  const request = requestOf(people);
  expect({ ...request, ...expected }).toEqual(request);
  expect(Object.values(request)).not.toContain(undefined);
});

/** EMV 3-D Secure, A.4: the elements that people have written. */
const FORMATS: Partial<Record<(typeof AREQ_ELEMENTS)[number], RegExp>> = {
  cardholderName: /^[ -~]{2,45}$/,
  email: /^[!-~]{3,254}$/,
  merchantName: /^[ -~]{1,40}$/,
  threeDSRequestorName: /^[ -~]{1,40}$/,
  browserIP: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-F]{4}(?::[0-9A-F]{4}){7})$/,
};

test('whatever people are called, the request has EMV’s characters and lengths', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  const people = fc.record({
    holder: text,
    email: fc.oneof(fc.emailAddress(), text),
    ip: fc.oneof(fc.ipV4(), fc.ipV6()),
    merchantName: text,
  });
  fc.assert(
    fc.property(people, (given) => {
      const request = requestOf(given);
      for (const name of AREQ_ELEMENTS) {
        const [value, format] = [request[name], FORMATS[name]];
        if (value !== undefined && format !== undefined) expect(value).toMatch(format);
      }
    }),
  );
});
