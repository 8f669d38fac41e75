import { until } from '@gateway/testing';
import type { InquiryGate } from './support/inquiry-gate';
import { openInquiryGate } from './support/inquiry-gate';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from './support/system';

/** decisions.md, section 3. `never both` for the last: either the effect, or a confirmed cancellation. */
const AMOUNTS = [
  { cents: 9, told: 3109, ends: 'success' },
  { cents: 17, told: 3117, ends: 'success' },
  { cents: 18, told: 3118, ends: 'error' },
  { cents: 24, told: 3124, ends: 'success' },
  { cents: 25, told: 3125, ends: 'error' },
  { cents: 33, told: 3109, ends: 'either' },
] as const;

type FollowUp = [type: 'SETTLE' | 'VOID' | 'REFUND', of: 'base' | 'own', code: number];

interface Kind {
  type: 'AUTH' | 'SALE' | 'SETTLE' | 'VOID' | 'REFUND';
  /** Sends the operation whose outcome will be unknown, after what it needs. */
  act(cents: number): Promise<{ base?: Body; first: Body }>;
  effect: string;
  /** Follow-ups that are refused while the outcome is unknown. */
  meanwhile: FollowUp[];
  /** What is refused, or goes, once it has succeeded, and once it has failed. */
  afterSuccess: FollowUp[];
  afterFailure: FollowUp[];
}

const amount = (whole: number, cents: number): string => `${whole}.${String(cents).padStart(2, '0')}`;

async function follow(type: 'SETTLE' | 'VOID' | 'REFUND', base: Body, cents: number) {
  const money = type === 'VOID' ? {} : { amount: amount(31, cents) };
  return { base, first: await send(followUp(type, base['reference'], money)) };
}

const KINDS: Kind[] = [
  {
    type: 'AUTH',
    act: async (cents) => ({ first: await send(cardRequest('AUTH', { amount: amount(31, cents) })) }),
    effect: 'authorized',
    meanwhile: [
      ['SETTLE', 'own', 3003],
      ['VOID', 'own', 3003],
      ['REFUND', 'own', 3003],
    ],
    afterSuccess: [
      ['REFUND', 'own', 3005],
      ['SETTLE', 'own', 0],
    ],
    afterFailure: [
      ['SETTLE', 'own', 3003],
      ['VOID', 'own', 3004],
    ],
  },
  {
    type: 'SALE',
    act: async (cents) => ({ first: await send(cardRequest('SALE', { amount: amount(31, cents) })) }),
    effect: 'sold',
    meanwhile: [
      ['REFUND', 'own', 3003],
      ['VOID', 'own', 3003],
    ],
    afterSuccess: [['REFUND', 'own', 0]],
    afterFailure: [['REFUND', 'own', 3005]],
  },
  {
    type: 'SETTLE',
    act: async (cents) => follow('SETTLE', await send(cardRequest('AUTH', { amount: '50.00' })), cents),
    effect: 'captured',
    meanwhile: [
      ['SETTLE', 'base', 3010],
      ['VOID', 'base', 3004],
      ['REFUND', 'own', 3003],
    ],
    afterSuccess: [
      ['SETTLE', 'base', 3010],
      ['VOID', 'base', 3004],
      ['REFUND', 'own', 0],
    ],
    afterFailure: [
      ['REFUND', 'own', 3005],
      ['SETTLE', 'base', 0],
    ],
  },
  {
    type: 'VOID',
    act: async (cents) => follow('VOID', await send(cardRequest('AUTH', { amount: amount(41, cents) })), cents),
    effect: 'voided',
    meanwhile: [
      ['SETTLE', 'base', 3008],
      ['VOID', 'base', 3008],
    ],
    afterSuccess: [
      ['SETTLE', 'base', 3008],
      ['VOID', 'base', 3008],
    ],
    afterFailure: [['SETTLE', 'base', 0]],
  },
  {
    type: 'REFUND',
    act: async (cents) => follow('REFUND', await send(cardRequest('SALE', { amount: '50.00' })), cents),
    effect: 'refunded',
    meanwhile: [
      ['REFUND', 'base', 3009],
      ['VOID', 'base', 3004],
    ],
    afterSuccess: [['REFUND', 'base', 3009]],
    afterFailure: [['REFUND', 'base', 0]],
  },
];

const CASES = KINDS.flatMap((kind) => AMOUNTS.map((at) => ({ ...kind, ...at })));
type Case = (typeof CASES)[number];

/** Inquiries back off: the longer a slow machine takes until a case is released, the later the next one comes. */
const RESOLVED_WITHIN_MS = 60_000;
const PLAYED_WITHIN_MS = 150_000;

let system: System;
let gate: InquiryGate;
/** All cases run at once; each test waits for its own. */
let played: Map<Case, Promise<Played>>;

beforeAll(async () => {
  system = await startSystem('unk', {
    // Far beyond what an answer takes that is not meant to fail, also while all cases begin at once on a slow machine.
    settings: { SIMULATOR_TIMEOUT_MS: '5000' },
    async beforeAcquirer(simulatorUrl) {
      gate = await openInquiryGate(simulatorUrl);
      return gate.url;
    },
  });
  await send(cardRequest('SALE'));
  played = new Map(CASES.map((one) => [one, play(one)]));
  const ended = Promise.allSettled(played.values());
  await callsThatGoWell(ended);
}, PLAYED_WITHIN_MS);
afterAll(async () => {
  await system.stop();
  await gate.close();
});

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

/** As others' do in production: the circuit to an acquirer of which nothing but silence is heard opens. */
async function callsThatGoWell(ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  while (!over) await send(cardRequest('SALE'));
}

interface Played {
  first: Body;
  pending: CheckRecord | undefined;
  meanwhile: unknown[];
  final: CheckRecord;
  ledger: string[];
  after: unknown[];
}

async function play({ act, cents, meanwhile, afterSuccess, afterFailure }: Case): Promise<Played> {
  const { base, first } = await act(cents);
  const reference = String(first['reference']);
  const codesOf = async (attempts: FollowUp[]): Promise<unknown[]> => {
    const codes: unknown[] = [];
    for (const [type, of] of attempts) {
      const on = of === 'own' ? first : (base ?? first);
      codes.push((await send(followUp(type, on['reference'], type === 'VOID' ? {} : { amount: '5.00' })))['code']);
    }
    return codes;
  };
  const record = async () => recordsOf(await send(checkOf({ reference })))[0];
  const before = { first, pending: await record(), meanwhile: await codesOf(meanwhile) };
  gate.release(reference);
  const final = await until(
    `the end of ${reference}`,
    async () => {
      const found = await record();
      return found?.status === 'PENDING' ? undefined : found;
    },
    RESOLVED_WITHIN_MS,
  );
  const ledger = (await system.ledger(reference)).map(({ effect }) => effect);
  return { ...before, final, ledger, after: await codesOf(final.status === 'SUCCESS' ? afterSuccess : afterFailure) };
}

const codesIn = (attempts: FollowUp[]): number[] => attempts.map(([, , code]) => code);

describe.each(AMOUNTS)('an unknown outcome answered with $told (31.$cents)', ({ cents }) => {
  test.each(CASES.filter((one) => one.cents === cents))('$type: $ends', async (one) => {
    const { first, pending, meanwhile, final, ledger, after } = await (played.get(one) as Promise<Played>);
    expect(first).toMatchObject({ status: 'error', code: one.told, authcode: null });
    expect(pending).toMatchObject({ status: 'PENDING', code: 11, message: 'Internal timeout', authcode: null });
    expect(meanwhile).toEqual(codesIn(one.meanwhile));

    const { told, effect, afterSuccess, afterFailure } = one;
    const succeeded = one.ends === 'either' ? final.status === 'SUCCESS' : one.ends === 'success';
    expect(final).toMatchObject(
      succeeded ? { status: 'SUCCESS', code: 0 } : { status: 'ERROR', code: told, message: first['message'] },
    );
    expect(ledger).toEqual(succeeded ? [effect] : ['cancelled']);
    expect(after).toEqual(codesIn(succeeded ? afterSuccess : afterFailure));
  });
});

test('final outcomes stay', async () => {
  for (const [{ type }, playing] of played) {
    const { first, final } = await playing;
    const now = recordsOf(await send(checkOf({ reference: first['reference'] })))[0];
    expect({ type, now }).toEqual({ type, now: final });
    const { length } = (await system.ledger(String(first['reference']))).filter(({ effect }) => effect !== 'declined');
    expect(length).toBe(1);
  }
});
