import type { Account } from '@gateway/accounts';
import type { CardholderCommand } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import { decide } from '../domain/decide';
import { decideAuthentication } from '../domain/decide-authentication';
import type { Payment } from '../domain/payment';
import { evolve } from '../domain/payment';
import {
  after,
  approved,
  authenticated,
  authenticationCommand,
  FACTS,
  PAYMENTS,
  purchaseCommand,
  ref,
  refund,
  settle,
  voidOf,
  refused,
  threedsEvent,
  TIMES,
} from '../domain/payments.fixture';
import type { Used } from '../domain/velocity';
import type { Counter, Counters, CountResult } from './ports';
import { countEnd, screenAttempt } from './screen-attempt';

const SLOT = 1_000;
const card = (pan: string) => new Secret<CardData>({ pan, expMonth: '12', expYear: '2030', holder: 'Ann Lee' });
const VISA = card('4242424242424242');
const account = (rules: Pick<Account, 'cardRules' | 'testCardRules'> = {}) => rules as Account;
const inEur = (more: Partial<CardholderCommand['data']> = {}) =>
  purchaseCommand('ChargeCard', { currency: 'EUR', ...more });

/** Counters that are full where `full` says so. Ids are the hashed parts, readable. */
function world(full: (id: string) => Used | undefined = () => undefined, keys: readonly string[][] = [[]]) {
  const asked: Counter[][] = [];
  const changes: unknown[] = [];
  const counters: Counters = {
    async count(_reference, wanted) {
      asked.push([...wanted]);
      return wanted.map(({ id }): CountResult => {
        const used = full(id);
        return used === undefined ? { counted: true, slot: SLOT } : { counted: false, used };
      });
    },
    takeBack: (reference, counts) => void changes.push([reference, counts.map(({ counter }) => counter)]),
    end: (counts, end) => void changes.push([end, counts.map(({ counter }) => counter)]),
    pay: (counts) => void changes.push(['pay', counts.map((one) => one.card)]),
    payBack: (counts) => void changes.push(['pay back', counts.map((one) => one.card)]),
  };
  const cards = {
    countingHashes: keys.map((key) => ({
      fingerprint: (parts: readonly string[]) => [...parts, ...key].join(' '),
      panHash: (one: Secret<CardData>) => [`hash of ${one.expose().pan}`, ...key].join(' '),
    })),
  };
  return { ports: { counters, cards } as never, counters, asked, changes };
}

const idsOf = async (command: CardholderCommand, rules: Pick<Account, 'cardRules' | 'testCardRules'> = {}) => {
  const { ports, asked } = world();
  await screenAttempt(ports, command, { account: account(rules), card: VISA });
  return asked.flat().map(({ id }) => id);
};

describe('while the key of the hashes changes, an attempt', () => {
  const KEYS = [['under new'], ['under old']];
  const testCardRules = [{ kind: 'attempts', by: 'card', max: 3, windowSeconds: 60 }] as const;
  const xts = purchaseCommand('ChargeCard');

  it('counts under both keys', async () => {
    const { ports, asked } = world(undefined, KEYS);
    const screened = await screenAttempt(ports, xts, { account: account({ testCardRules }), card: VISA });
    expect(asked.flat().map(({ id }) => id)).toEqual(
      ['new', 'old'].map((key) => `merchant test attempts card 60 hash of 4242424242424242 under ${key} under ${key}`),
    );
    expect(screened?.attemptCounts).toHaveLength(2);
  });

  it.each(['new', 'old'])('is refused if the counter under the %s key is full', async (key) => {
    const used: Used = { declines: 0, paid: 0, attempts: 3 };
    const { ports } = world((id) => (id.endsWith(`under ${key}`) ? used : undefined), KEYS);
    const screened = await screenAttempt(ports, xts, { account: account({ testCardRules }), card: VISA });
    expect(screened?.hit).toMatchObject({ rule: 'attempts by card' });
  });
});

describe('an attempt', () => {
  it('in a real currency counts by the defaults', async () => {
    expect(await idsOf(inEur())).toEqual([
      'merchant real declines ip 3600 192.0.2.1',
      'merchant real declines card 86400 hash of 4242424242424242',
      'merchant real declines email 86400 ann@example.com',
    ]);
  });

  it("in XTS counts by the account's own rules for XTS only, and by none without a database operation", async () => {
    const xts = purchaseCommand('ChargeCard');
    const { ports, asked } = world();
    expect(await screenAttempt(ports, xts, { account: account(), card: VISA })).toBeUndefined();
    expect(asked).toEqual([]);
    const testCardRules = [{ kind: 'attempts', by: 'bin', max: 3, windowSeconds: 60 }] as const;
    expect(await idsOf(xts, { testCardRules })).toEqual(['merchant test attempts bin 60 424242']);
    expect(await idsOf(inEur(), { testCardRules, cardRules: [] })).toEqual([]);
  });

  it('on the card-entry page counts by the address of the browser', async () => {
    const [first] = await idsOf(inEur({ browserIp: '198.51.100.9', checkoutAttempt: 1 }));
    expect(first).toBe('merchant real declines ip 3600 198.51.100.9');
  });

  it('counts an IPv6 network as one address, and every spelling of a mailbox as one', async () => {
    const customer = { ...inEur().data.customer, ip: '2001:db8:1:2::1', email: 'Ann+1@Example.com' };
    const other = { ...customer, ip: '2001:db8:1:2:ffff::9', email: 'ann@example.COM' };
    expect(await idsOf(inEur({ customer }))).toEqual(await idsOf(inEur({ customer: other })));
  });

  it('by the merchant without its customer has no address', async () => {
    expect((await idsOf(inEur({ cofType: 'MIT' }))).map((id) => id.split(' ')[3])).toEqual(['card', 'email']);
  });

  it('is refused by the first full counter, with its rule and use', async () => {
    const { ports } = world((id) => {
      if (id.includes('card')) return { declines: 12, paid: 0, attempts: 3 };
      return id.includes('email') ? { declines: 20, paid: 0, attempts: 0 } : undefined;
    });
    const screened = await screenAttempt(ports, inEur(), { account: account(), card: VISA });
    expect(screened).toEqual({
      hit: {
        code: 3200,
        rule: 'declines by card',
        reason: '12 declines in 86400 s, 10 are allowed',
      },
      declineCounts: [
        {
          counter: 'merchant real declines ip 3600 192.0.2.1',
          slot: SLOT,
          card: 'merchant real paying hash of 4242424242424242',
        },
      ],
      attemptCounts: [],
    });
  });

  it('may be under way with a hundred others from its address, but with no more on its card than may be declined', async () => {
    const { ports, asked } = world();
    await screenAttempt(ports, inEur(), { account: account(), card: VISA });
    expect(asked.flat()).toMatchObject([
      { max: 20, totalMax: 120 },
      { max: 10, totalMax: 10 },
      { max: 20, totalMax: 120 },
    ]);
  });

  it('is refused although the counter has room again by the time it is read', async () => {
    const { ports } = world((id) => (id.includes('card') ? { declines: 8, paid: 0, attempts: 1 } : undefined));
    const screened = await screenAttempt(ports, inEur(), { account: account(), card: VISA });
    expect(screened?.hit?.code).toBe(3200);
  });
});

describe('the end of an attempt', () => {
  const declineCounts = [{ counter: 'a-counter', slot: SLOT, card: 'a-card' }];
  const begun = after(PAYMENTS.nothing, purchaseCommand('ChargeCard'), { ...FACTS, velocity: { declineCounts } });

  it('is counted: a card that pays pays, a failure counts for nothing', () => {
    const { ports, changes } = world();
    const reference = ref('SALE');
    const sold = { type: 'OperationSucceeded', reference, authcode: null } as const;
    countEnd(ports, sold, evolve(begun, sold));
    const failed = { type: 'OperationFailed', reference, code: 3118, message: '' } as const;
    countEnd(ports, failed, evolve(begun, failed));
    const declined = { type: 'OperationDeclined', reference, code: 3101, message: '' } as const;
    countEnd(ports, declined, evolve(begun, declined));
    expect(changes).toEqual([
      ['not-declined', ['a-counter']],
      ['pay', ['a-card']],
      ['not-declined', ['a-counter']],
      ['declined', ['a-counter']],
    ]);
  });

  it('of an AUTH is no payment: a SETTLE is, a VOID or a REFUND takes it back only after that', () => {
    const { ports, changes } = world();
    const held = after(PAYMENTS.nothing, purchaseCommand('AuthorizeCard'), { ...FACTS, velocity: { declineCounts } });
    const succeed = (payment: Payment, name: string): Payment => {
      const event = {
        type: 'OperationSucceeded',
        reference: ref(name),
        authcode: null,
        expiresAt: FACTS.now + 1_000,
      } as const;
      const next = evolve(payment, event);
      countEnd(ports, event, next);
      return next;
    };
    const authorized = succeed(held, 'AUTH');
    succeed(after(authorized, voidOf('AUTH'), FACTS), 'VOID');
    expect(changes).toEqual([['not-declined', ['a-counter']]]);
    const settled = succeed(after(authorized, settle(), FACTS), 'SETT');
    succeed(after(settled, refund('SETT'), FACTS), 'REFU');
    expect(changes.slice(1)).toEqual([
      ['pay', ['a-card']],
      ['pay back', ['a-card']],
    ]);
  });

  it('counts what is declined without a bank, and not what a rule refuses', () => {
    const command = purchaseCommand('ChargeCard', { currency: 'EUR' });
    const hit = { code: 3200, rule: 'declines by ip', reason: 'too many' } as const;
    const { ports, changes } = world();
    for (const [facts, code] of [
      [{ ...FACTS, velocity: { declineCounts } }, 3114],
      [{ ...FACTS, card: { ...FACTS.card!, testCard: false }, velocity: { hit, declineCounts } }, 3200],
    ] as const) {
      const events = decide(PAYMENTS.nothing, command, facts);
      if (typeof events === 'string') throw new Error(events);
      const payment = events.reduce(evolve, PAYMENTS.nothing);
      expect(payment.operations).toMatchObject([{ code }]);
      for (const event of events) countEnd(ports, event, payment);
    }
    expect(changes).toEqual([['declined', ['a-counter']]]);
  });

  it('counts an AUTH3D whose cardholder is authenticated for nothing, and one that is refused as declined', () => {
    const { ports, changes } = world();
    const asked = after(PAYMENTS.nothing, authenticationCommand('AuthenticateCard'), {
      ...FACTS,
      velocity: { declineCounts },
    });
    const proof = threedsEvent('CardholderAuthenticated', 'AU3D', authenticated);
    for (const event of [proof, threedsEvent('AuthenticationRefused', 'AU3D', refused(3103))]) {
      for (const decided of decideAuthentication(asked, event, TIMES)) {
        countEnd(ports, decided, evolve(asked, decided));
      }
    }
    expect(changes).toEqual([
      ['not-declined', ['a-counter']],
      ['declined', ['a-counter']],
    ]);
  });

  it('leaves an unknown outcome and operations without rules alone', () => {
    const { ports, changes } = world();
    const reference = ref('SALE');
    const unknown = { type: 'OutcomeBecameUnknown', reference, code: 3109, message: '', resolveAt: 0 } as const;
    countEnd(ports, unknown, evolve(begun, unknown));
    const sold = { type: 'OperationSucceeded', reference, authcode: null } as const;
    countEnd(ports, sold, approved(PAYMENTS.charging, 'SALE'));
    expect(changes).toEqual([]);
  });
});
