import fc from 'fast-check';
import type { CardCommand } from '@gateway/contracts';
import type { AcquirerAnswer } from './decide';
import { decide, decideAnswer, hasRoomForRefusal } from './decide';
import type { Situation } from './payments.fixture';
import {
  after,
  answered,
  approved,
  authenticationCommand,
  FACTS,
  HOLD_SECONDS,
  NOW,
  PAYMENTS,
  PROVEN,
  provenPurchase,
  purchaseCommand,
  ref,
  refund,
  ROUTE,
  settle,
  tokenize,
  voidOf,
} from './payments.fixture';
import type { Payment } from './payment';
import { findOperation } from './payment';
import { codeOfRejection } from './rejections';

/** The code of a command: 0 if it may go to the acquirer. */
function codeFor(payment: Payment, command: CardCommand, now = NOW): number {
  const decided = decide(payment, command, { ...FACTS, now });
  return typeof decided === 'string' ? codeOfRejection(decided) : 0;
}

/** decisions.md, section 4: every state × every command. Follow-ups name a possible base. */
const TABLE: Record<Situation, { settle: number; void: number; refund: number }> = {
  nothing: { settle: 3003, void: 3003, refund: 3003 },
  authorizing: { settle: 3003, void: 3003, refund: 3003 },
  authorized: { settle: 0, void: 0, refund: 3005 },
  'auth declined': { settle: 3003, void: 3004, refund: 3005 },
  settling: { settle: 3010, void: 3004, refund: 3005 },
  settled: { settle: 3010, void: 3004, refund: 3005 },
  'settled, late void allowed': { settle: 3010, void: 0, refund: 3005 },
  voiding: { settle: 3008, void: 3008, refund: 3005 },
  voided: { settle: 3008, void: 3008, refund: 3005 },
  'late voiding': { settle: 3008, void: 3008, refund: 3005 },
  'late voided': { settle: 3008, void: 3008, refund: 3005 },
  'settle refunding': { settle: 3010, void: 3004, refund: 3005 },
  'settle refunded': { settle: 3010, void: 3004, refund: 3005 },
  charging: { settle: 3003, void: 3003, refund: 3003 },
  charged: { settle: 3003, void: 3004, refund: 0 },
  'sale declined': { settle: 3003, void: 3004, refund: 3005 },
  refunding: { settle: 3003, void: 3004, refund: 3009 },
  refunded: { settle: 3003, void: 3004, refund: 3009 },
  tokenized: { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D asked for': { settle: 3003, void: 0, refund: 3003 },
  'AUTH3D challenged': { settle: 3003, void: 0, refund: 3003 },
  'AUTH3D authenticated': { settle: 3003, void: 0, refund: 3005 },
  'AUTH3D failed': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D cancelled': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D out of time': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D voided': { settle: 3003, void: 3008, refund: 3005 },
  'AUTH3D voided in its challenge': { settle: 3003, void: 3008, refund: 3005 },
  'AUTH3D used by a SALE': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D used by a SALE that was declined': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D used by an AUTH': { settle: 3003, void: 3004, refund: 3005 },
  'AUTH3D used by an AUTH that was voided': { settle: 3003, void: 3004, refund: 3005 },
  'SALE3D asked for': { settle: 3003, void: 3003, refund: 3003 },
  'SALE3D challenged': { settle: 3003, void: 3003, refund: 3003 },
  'SALE3D charging': { settle: 3003, void: 3003, refund: 3003 },
  'SALE3D charged': { settle: 3003, void: 3004, refund: 0 },
  'SALE3D failed': { settle: 3003, void: 3004, refund: 3005 },
};

function baseOf(payment: Payment): string {
  return payment.operations[0]?.reference.slice(-4) ?? 'AUTH';
}

describe.each(Object.entries(TABLE) as [Situation, (typeof TABLE)[Situation]][])('given %s', (situation, codes) => {
  const payment = PAYMENTS[situation];
  const base = baseOf(payment);
  test(`SETTLE of its first operation gets ${codes.settle}`, () => {
    expect(codeFor(payment, settle(base, {}, 'NEW1'))).toBe(codes.settle);
  });
  test(`VOID of its first operation gets ${codes.void}`, () => {
    expect(codeFor(payment, voidOf(base, 'NEW1'))).toBe(codes.void);
  });
  test(`REFUND of its first operation gets ${codes.refund}`, () => {
    expect(codeFor(payment, refund(base, {}, 'NEW1'))).toBe(codes.refund);
  });
  test('a refusal is recorded and changes nothing else', () => {
    const unknown = after(payment, settle('ZZZZ', {}, 'NEW1'));
    expect(findOperation(unknown, ref('NEW1'))).toMatchObject({ status: 'error', code: 3003 });
    expect(unknown.state).toEqual(payment.state);
    expect(unknown.pending).toEqual(payment.pending);
  });
});

describe('REFUND of a SETTLE', () => {
  test.each([
    ['settling', 3003],
    ['settled', 0],
    ['late voiding', 3005],
    ['late voided', 3005],
    ['settle refunding', 3009],
    ['settle refunded', 3009],
  ] as const)('given %s gets %i', (situation, code) => {
    expect(codeFor(PAYMENTS[situation], refund('SETT', {}, 'NEW1'))).toBe(code);
  });
  test('that was declined does not count', () => {
    const declined = answered(PAYMENTS['settle refunding'], 'REFU', { kind: 'declined', code: 3115, bank: {} });
    expect(codeFor(declined, refund('SETT', {}, 'NEW1'))).toBe(0);
  });
});

describe('other bases of the merchant’s own', () => {
  test.each([
    ['VOID of a SETTLE', PAYMENTS.settled, voidOf('SETT', 'NEW1'), 3004],
    ['VOID of a REFUND', PAYMENTS.refunded, voidOf('REFU', 'NEW1'), 3004],
    ['VOID of a VOID', PAYMENTS.voided, voidOf('VOID', 'NEW1'), 3004],
    ['REFUND of an AUTH', PAYMENTS.settled, refund('AUTH', {}, 'NEW1'), 3005],
    ['REFUND of a REFUND', PAYMENTS.refunded, refund('REFU', {}, 'NEW1'), 3005],
    ['SETTLE of a SETTLE', PAYMENTS.settled, settle('SETT', {}, 'NEW1'), 3003],
    ['VOID of a pending SETTLE', PAYMENTS.settling, voidOf('SETT', 'NEW1'), 3003],
  ])('%s', (_what, payment, command, code) => {
    expect(codeFor(payment, command)).toBe(code);
  });
});

describe('amount and currency', () => {
  test.each([
    ['SETTLE of less', PAYMENTS.authorized, settle('AUTH', { amountE4: 1 }), 0],
    ['SETTLE of more', PAYMENTS.authorized, settle('AUTH', { amountE4: 100_001 }), 3016],
    ['SETTLE in another currency', PAYMENTS.authorized, settle('AUTH', { currency: 'EUR' }), 3022],
    ['REFUND of less', PAYMENTS.charged, refund('SALE', { amountE4: 1 }), 0],
    ['REFUND of more', PAYMENTS.charged, refund('SALE', { amountE4: 100_001 }), 3022],
    ['REFUND in another currency', PAYMENTS.charged, refund('SALE', { currency: 'EUR' }), 3022],
  ])('%s', (_what, payment, command, code) => {
    expect(codeFor(payment, command)).toBe(code);
  });

  test('a REFUND is bounded by the settled amount, not by the held one', () => {
    const partly = approved(after(PAYMENTS.authorized, settle('AUTH', { amountE4: 40_000 })), 'SETT');
    expect(codeFor(partly, refund('SETT', { amountE4: 40_001 }))).toBe(3022);
    expect(codeFor(partly, refund('SETT', { amountE4: 40_000 }))).toBe(0);
  });
});

describe('the end of a hold', () => {
  const end = NOW + HOLD_SECONDS * 1000;
  const fresh = (command: CardCommand): CardCommand =>
    ({ ...command, data: { ...command.data, deadline: end + 30_000 } }) as CardCommand;
  test('SETTLE succeeds until the last moment', () => {
    expect(codeFor(PAYMENTS.authorized, fresh(settle()), end - 1)).toBe(0);
  });
  test('SETTLE from then on gets 3007', () => {
    expect(codeFor(PAYMENTS.authorized, fresh(settle()), end)).toBe(3007);
  });
  test('VOID still releases it', () => {
    expect(codeFor(PAYMENTS.authorized, fresh(voidOf()), end)).toBe(0);
  });
});

describe('a charge', () => {
  test('past its deadline is refused, like any other command', () => {
    for (const command of [
      purchaseCommand('ChargeCard'),
      purchaseCommand('AuthorizeCard'),
      settle(),
      voidOf(),
      tokenize,
    ]) {
      expect(codeFor(PAYMENTS.nothing, command, command.data.deadline + 1)).toBe(11);
    }
  });
  test('is refused with a token that the merchant does not have', () => {
    expect(decide(PAYMENTS.nothing, purchaseCommand('ChargeCard'), { ...FACTS, card: undefined })).toBe(
      'token-not-found',
    );
  });
  test('is refused without a terminal', () => {
    const facts = { ...FACTS, route: 'no-terminal-for-currency' as const };
    expect(decide(PAYMENTS.nothing, purchaseCommand('ChargeCard'), facts)).toBe('no-terminal-for-currency');
  });
  test.each([
    ['a phone without + in test mode', { customer: { phone: '123456789' } }, {}, 3140],
    ['a phone with +', { customer: { phone: '+123456789' } }, {}, undefined],
    ['an expiry before 2020 in test mode', {}, { expYear: '2019' }, 3105],
    ['January 2020 in test mode', {}, { expYear: '2020', expMonth: '01' }, undefined],
    ['a test card in a real currency', { currency: 'EUR' }, {}, 3114],
    ['an expired card in a real currency', { currency: 'EUR' }, { testCard: false, expYear: '2025' }, 3105],
    ['a card in its last month', { currency: 'EUR' }, { testCard: false, expYear: '2026', expMonth: '01' }, undefined],
  ])('%s', (_what, more, card, code) => {
    const command = purchaseCommand('ChargeCard');
    const data = {
      ...command.data,
      ...more,
      customer: { ...command.data.customer, ...('customer' in more ? more.customer : {}) },
    };
    const payment = after(
      PAYMENTS.nothing,
      { ...command, data },
      {
        ...FACTS,
        card: { brand: 'Visa', expMonth: '12', expYear: '2030', testCard: true, ...card },
      },
    );
    expect(payment.operations[0]).toMatchObject(
      code === undefined ? { status: 'pending', code: 11 } : { status: 'decline', code },
    );
  });
});

describe('an answer', () => {
  const facts = { now: NOW, holdSeconds: HOLD_SECONDS, inquireAt: NOW + 500 };
  test('that is unknown is reported and stays pending', () => {
    const unknown = answered(PAYMENTS.charging, 'SALE', { kind: 'unknown', code: 3109 });
    expect(unknown.operations[0]).toMatchObject({ status: 'pending', code: 3109 });
    expect(unknown.pending).toBeDefined();
  });
  test('that is unknown again keeps the first response', () => {
    const unknown = answered(PAYMENTS.charging, 'SALE', { kind: 'unknown', code: 3109 });
    expect(decideAnswer(unknown, ref('SALE'), { kind: 'unknown', code: 3118 }, facts)).toEqual([]);
  });
  test('that an operation never ran ends it in an error and undoes its exclusion', () => {
    const failed = answered(PAYMENTS.settling, 'SETT', { kind: 'not-executed', code: 3118 });
    expect(findOperation(failed, ref('SETT'))).toMatchObject({ status: 'error', code: 3118 });
    expect(failed.state.kind).toBe('authorized');
    expect(failed.pending).toBeUndefined();
  });
  test('that comes late or twice changes no terminal state', () => {
    for (const kind of ['approved', 'declined', 'unknown', 'not-executed'] as const) {
      const answer = { kind, code: 3100, authcode: null, bank: {} } as Parameters<typeof decideAnswer>[2];
      expect(decideAnswer(PAYMENTS.settled, ref('SETT'), answer, facts)).toEqual([]);
    }
  });
  test('to an AUTH sets the end of its hold', () => {
    expect(PAYMENTS.authorized.state).toMatchObject({ hold: { expiresAt: NOW + HOLD_SECONDS * 1000 } });
  });
  describe('to an AUTH whose outcome was unknown: its hold', () => {
    const end = NOW + HOLD_SECONDS * 1000;
    const unknown = answered(PAYMENTS.authorizing, 'AUTH', { kind: 'unknown', code: 3109 });
    const succeedAt = (payment: Payment, now: number) =>
      decideAnswer(payment, ref('AUTH'), { kind: 'approved', authcode: null, bank: {} }, { ...facts, now });
    test.each([
      ['counts from the begin of the call', end - 1, end],
      ['ends now if it is over by then', end + 1, end + 1],
    ])('%s', (_what, now, expiresAt) => {
      expect(succeedAt(unknown, now)).toMatchObject([{ type: 'OperationSucceeded', expiresAt }]);
    });
    test('counts from its own call if the AUTH has a proof', () => {
      const begunAt = NOW + 20_000;
      const command = provenPurchase('AuthorizeCard');
      const authorizing = after(PAYMENTS['AUTH3D authenticated'], command, { ...PROVEN, now: begunAt });
      expect(succeedAt(authorizing, begunAt + 1_000)).toMatchObject([{ expiresAt: begunAt + HOLD_SECONDS * 1000 }]);
    });
    test('counts from the answer if an older release began the call', () => {
      const older = { ...unknown, pending: { reference: ref('AUTH'), kind: 'authorize' } } as const;
      expect(succeedAt(older, NOW + 5)).toMatchObject([{ expiresAt: end + 5 }]);
    });
  });
});

test('refusals leave room for the operations that move money', () => {
  let payment: Payment = PAYMENTS.authorized;
  for (let count = 0; hasRoomForRefusal(payment); count += 1) {
    payment = after(payment, settle('ZZZZ', {}, String(count).padStart(4, '0')));
  }
  expect(payment.operations.length).toBeLessThan(100);
  expect(codeFor(payment, settle())).toBe(0);
});

/** External inputs to a payment, in any order and number. */
const step = fc.oneof(
  fc.record({ do: fc.constant('settle' as const), amountE4: fc.integer({ min: 1, max: 120_000 }) }),
  fc.record({ do: fc.constant('refund' as const), amountE4: fc.integer({ min: 1, max: 120_000 }) }),
  fc.record({ do: fc.constant('void' as const) }),
  fc.record({
    do: fc.constant('answer' as const),
    kind: fc.constantFrom('approved', 'declined', 'unknown', 'not-executed'),
  }),
);

test('in any order of messages, money is taken at most once and given back at most once', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, lateVoid) => {
      let payment: Payment = { ...PAYMENTS.authorized, route: { ...ROUTE, lateVoid } };
      steps.forEach((action, index) => {
        const name = String(index).padStart(4, '0');
        const charge = payment.operations.find(
          (operation) => operation.type === 'SETTLE' && operation.status === 'success',
        );
        const on = charge?.reference.slice(-4) ?? 'SETT';
        if (action.do === 'settle') payment = after(payment, settle('AUTH', action, name));
        else if (action.do === 'refund') payment = after(payment, refund(on, action, name));
        else if (action.do === 'void') payment = after(payment, voidOf('AUTH', name));
        else if (payment.pending !== undefined) {
          const answer = { kind: action.kind, code: 3109, authcode: null, bank: {} } as AcquirerAnswer;
          payment = answered(payment, payment.pending.reference.slice(-4), answer);
        }
      });
      const done = (type: string) =>
        payment.operations.filter((operation) => operation.type === type && operation.status === 'success');
      const [settles, refunds, voids] = [done('SETTLE'), done('REFUND'), done('VOID')];
      expect(settles.length).toBeLessThanOrEqual(1);
      expect(refunds.length).toBeLessThanOrEqual(1);
      expect(voids.length).toBeLessThanOrEqual(1);
      if (!lateVoid) expect(settles.length + voids.length).toBeLessThanOrEqual(1);
      expect(refunds.length + voids.length).toBeLessThanOrEqual(1);
      const amount = (operations: typeof settles) => operations[0]?.amountE4 ?? 0;
      expect(amount(settles)).toBeLessThanOrEqual(100_000);
      expect(amount(refunds)).toBeLessThanOrEqual(amount(settles));
      expect(payment.operations.filter((operation) => operation.status === 'pending').length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

describe('velocity rules', () => {
  const declineCounts = [{ counter: 'a-counter', slot: NOW }];
  const hit = { code: 3200, rule: 'declines by ip', reason: 'too many' } as const;
  const commands = [
    purchaseCommand('AuthorizeCard'),
    purchaseCommand('ChargeCard'),
    authenticationCommand('AuthenticateCard'),
    authenticationCommand('AuthenticateAndChargeCard'),
  ];

  it.each(commands)('decline $type without a call, with the reason on record', (command) => {
    const payment = after(PAYMENTS.nothing, command, { ...FACTS, velocity: { hit, declineCounts } });
    expect(payment).toMatchObject({ state: { kind: 'closed' } });
    expect(payment.pending ?? payment.awaiting).toBeUndefined();
    expect(payment.operations).toEqual([
      expect.objectContaining({
        status: 'decline',
        code: 3200,
        message: 'Declined by anti-fraud system',
        authcode: null,
        refusedBy: { rule: 'declines by ip', reason: 'too many' },
      }),
    ]);
    expect(payment.operations[0]).not.toHaveProperty('declineCounts');
  });

  it.each(commands)('record where $type counts', (command) => {
    const payment = after(PAYMENTS.nothing, command, { ...FACTS, velocity: { declineCounts } });
    expect(payment.operations).toMatchObject([{ status: 'pending', declineCounts }]);
  });

  it('count a decline that needs no bank, and no refusal', () => {
    const command = purchaseCommand('ChargeCard', { currency: 'EUR' });
    const [declined] = after(PAYMENTS.nothing, command, { ...FACTS, velocity: { declineCounts } }).operations;
    expect(declined).toMatchObject({ code: 3114, declineCounts });
    const facts = { ...FACTS, route: 'no-terminal-for-currency', velocity: { declineCounts } } as const;
    expect(after(PAYMENTS.nothing, command, facts).operations[0]).not.toHaveProperty('declineCounts');
  });

  it('come after the rules of the payment', () => {
    const facts = { ...FACTS, velocity: { hit, declineCounts } };
    expect(decide(PAYMENTS.charged, purchaseCommand('ChargeCard'), facts)).toBe('completed');
  });
});

describe('a card that is over a limit of numbers', () => {
  const overLimit = 'perBin' as const;
  const declined = {
    type: 'OperationRecorded',
    operation: { status: 'decline', code: 3202, refusedBy: { rule: 'card numbers by bin' } },
  };

  it.each([
    ['AUTH', purchaseCommand('AuthorizeCard', { overLimit })],
    ['SALE', purchaseCommand('ChargeCard', { overLimit })],
    ['AUTH3D', authenticationCommand('AuthenticateCard', { overLimit })],
    ['SALE3D', authenticationCommand('AuthenticateAndChargeCard', { overLimit })],
    ['TOKENIZE', { ...tokenize, data: { ...tokenize.data, overLimit } } as CardCommand],
  ] as const)('is declined and recorded without a token in %s, however late', (_type, command) => {
    const late = { ...command, data: { ...command.data, deadline: 0 } } as CardCommand;
    const events = decide(PAYMENTS.nothing, late, { ...FACTS, card: undefined });
    expect(events).toMatchObject([declined]);
    expect(events).not.toMatchObject([{ operation: { token: expect.anything() } }]);
  });

  it('does not begin what its payment refuses', () => {
    expect(decide(PAYMENTS.charged, purchaseCommand('ChargeCard', { overLimit }), FACTS)).toBe('completed');
  });
});

it('a proof is for its card under every token that the card has', () => {
  const command = provenPurchase('ChargeCard');
  const other = { ...command, data: { ...command.data, token: 'another-token' } };
  const proven = (cardTokens: string[]) =>
    decide(PAYMENTS['AUTH3D authenticated'], other, { ...FACTS, ...PROVEN, cardTokens });
  expect(proven([])).toBe('token-not-found');
  expect(proven([command.data.token])).not.toBe('token-not-found');
});
