import { randomUUID } from 'node:crypto';
import { bodyOf } from '@gateway/mongo';
import { until } from '@gateway/testing';
import type { Screening } from '../src/application/screening-ports';
import { decide } from '../src/domain/decide';
import type { Payout, PayoutEvent } from '../src/domain/payout';
import { evolve } from '../src/domain/payout';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, payout, testScreening } from './payout-fixture';

const LEASE_MS = 60_000;
const DUE_LATER = Number.MAX_SAFE_INTEGER;
let world: World;

beforeAll(async () => {
  world = await openWorld('payout-recovery');
});
afterEach(() => world.stopServices());
afterAll(() => world.close());

/** A payout left by a dead process: with these events, and due at that time. */
async function leave(
  command: ReturnType<typeof payout>,
  more: { events?: PayoutEvent[]; resolveAt?: number; bank?: string } = {},
): Promise<string> {
  const { receiver, description, ...rest } = command;
  const request = { ...rest, receiverCountry: receiver.iban.slice(0, 2), instruction: { receiver, description } };
  const submission = { bank: more.bank ?? 'simulator', resolveAt: DUE_LATER };
  const begun = decide(request, { now: world.now(), screening: { passed: true }, submission });
  const left = [...begun, ...(more.events ?? [])].reduce<Payout | undefined>(evolve, undefined);
  const due = more.resolveAt === undefined ? {} : { resolveAt: more.resolveAt };
  await world.payouts.insert(command.reference, { ...(left as Payout), ...due }, []);
  return command.reference;
}

/** Waits until every earlier command on the same partition is processed. */
async function throughPartitionOf(command: ReturnType<typeof payout>): Promise<void> {
  const marker = payout('1', { payoutId: command.payoutId, reference: `${command.payoutId}ZZZZ` });
  await world.isIn(await world.send(marker), 'settled');
}

describe('a process that died between the intent and the bank', () => {
  it('a repeated command does not reach the bank before the lease expires; then one submission does', async () => {
    const command = payout('10.50');
    const reference = await leave(command, { resolveAt: world.now() + LEASE_MS });
    await world.start();
    await world.send(command);
    await throughPartitionOf(command);
    expect(world.bank.submissionsOf(reference)).toBe(0);
    expect(world.bank.inquiries).not.toContain(reference);
    world.pass(LEASE_MS);
    await world.isIn(reference, 'settled');
    expect(world.bank.inquiries).toContain(reference);
    expect(world.bank.submissionsOf(reference)).toBe(1);
  });

  it('a payout is submitted, also by an operator, however long a call to the bank may take', async () => {
    const due = await leave(payout('10.50'), { resolveAt: world.now() });
    const later = await leave(payout('10.50'));
    const service = await world.start({ SIMULATOR_TIMEOUT_MS: '60000' });
    await world.isIn(due, 'settled');
    await world.ask(service, `/admin/payouts/${later}/retry`, 'POST');
    expect((await world.payouts.load(later))?.state.kind).toBe('settled');
  });

  it('a payout that the bank has is asked about, and not sent again', async () => {
    const reference = await leave(payout('10.50'), { resolveAt: world.now() });
    world.bank.outcomes.set(reference, { kind: 'settled', transactionId: 'T-before' });
    await world.start();
    await world.isIn(reference, 'settled');
    expect((await world.payouts.load(reference))?.bankFacts).toEqual({ transactionId: 'T-before' });
    expect(world.bank.submissionsOf(reference)).toBe(0);
  });
});

it('a bank that forgot a payout raises an alarm, and never ends the payout', async () => {
  const events: PayoutEvent[] = [{ type: 'PayoutSubmitted', resolveAt: DUE_LATER }];
  const reference = await leave(payout('10.50'), { events, resolveAt: world.now() });
  await world.start();
  await until('the alarm', () =>
    world.lines.some((line) => line.includes('does not know a payout') && line.includes(reference)),
  );
  await until('it is asked again later', async () => {
    const stored = await world.payouts.load(reference);
    return stored?.state.kind === 'submitted' && (stored.resolveAt ?? 0) > world.now() + LEASE_MS;
  });
});

it('an outcome that stays unknown raises an alarm, and inquiries become rarer', async () => {
  const unknown: PayoutEvent = { type: 'PayoutOutcomeUnknown', code: 3109, resolveAt: DUE_LATER };
  const reference = await leave(payout('10.50'), { events: [unknown], resolveAt: world.now(), bank: 'nobody' });
  const stored = await world.payouts.load(reference);
  if (stored === null) throw new Error('not there');
  await world.payouts.update(stored, { ...bodyOf(stored), inquiries: 9 }, []);
  await world.start();
  await until('the alarm', () =>
    world.lines.some((line) => line.includes('stays unknown') && line.includes(reference)),
  );
  await until('it is asked again later', async () => {
    const { inquiries = 0, resolveAt = 0 } = (await world.payouts.load(reference)) ?? {};
    return inquiries === 10 && resolveAt > world.now() + 200_000;
  });
});

it('the sweeper publishes committed events once', async () => {
  const command = payout('10.50');
  const reference = await leave(command, { events: [{ type: 'PayoutSettled' }] });
  const stored = await world.payouts.load(reference);
  if (stored === null) throw new Error('not there');
  const { receiver: _receiver, description: _description, callbackUrl, custom: _custom, ...subject } = command;
  const data = {
    ...subject,
    receiverCountry: 'LT',
    status: 'success',
    code: 0,
    message: 'm',
    occurredAt: 1,
    callbackUrl,
  };
  const at = world.now() - LEASE_MS;
  const event = { id: randomUUID(), type: 'PayoutSettled', at, correlationId: 'c', data };
  await world.payouts.update(stored, bodyOf(stored), [event]);
  await world.start();
  await until('the event', () => world.eventsOf(reference).length === 1);
  await until('the outbox is drained', async () => (await world.payouts.load(reference))?.outbox.length === 0);
});

it('two replicas share the commands, and each payout is sent once', async () => {
  await Promise.all([world.start(), world.start()]);
  const amounts = Array.from({ length: 40 }, (_, index) => (index % 10 === 0 ? '31.09' : '10.50'));
  const references = await Promise.all(amounts.map((amount) => world.send(payout(amount))));
  for (const reference of references) await world.isIn(reference, 'settled');
  for (const reference of references) expect(world.bank.submissionsOf(reference)).toBe(1);
});

it('a command that two replicas take at the same time has one effect', async () => {
  const command = payout('10.50');
  const gate = { waiting: 0, open: () => undefined as void };
  const both = new Promise<void>((resolve) => (gate.open = resolve));
  const rules = testScreening();
  const slow: Screening = {
    ...rules.screening,
    async screen(screened) {
      if (screened.reference === command.reference && (gate.waiting += 1) === 2) gate.open();
      if (screened.reference === command.reference) await both;
      return rules.screening.screen(screened);
    },
  };
  await world.start({}, { screening: slow });
  // On two partitions, like after a rebalance that one of two replicas has not noticed.
  const reference = await world.send(command, 'one-key');
  await world.send(command, 'another-key');
  await world.isIn(reference, 'settled');
  expect(gate.waiting).toBe(2);
  expect(world.bank.submissionsOf(reference)).toBe(1);
  await until('its events', () => world.typesOf(reference).includes('PayoutSettled'));
  expect(world.typesOf(reference)).toEqual(['PayoutAccepted', 'PayoutScreened', 'PayoutSettled']);
});

describe('a return', () => {
  it('is shown beside the success, published as an event, and acknowledged', async () => {
    const service = await world.start();
    const reference = await world.send(payout('10.50'));
    await world.isIn(reference, 'settled');
    world.bank.return(reference, 'AC04');
    await until('acknowledged', () => world.bank.acknowledged.includes(reference));
    expect(await world.outcome(service, reference)).toMatchObject({
      status: 'success',
      code: 0,
      changeReason: 'RETURNED AC04',
    });
    const event = await until('the event', () =>
      world.eventsOf(reference).find(({ type }) => type === 'PayoutReturned'),
    );
    expect(event.data).toMatchObject({ status: 'success', returnReason: 'AC04' });
    expect(event.data.callbackUrl).toBeUndefined();
  });

  it('reported before its settlement publishes both, in order', async () => {
    const events: PayoutEvent[] = [{ type: 'PayoutOutcomeUnknown', code: 3109, resolveAt: DUE_LATER }];
    const reference = await leave(payout('10.50'), { events, resolveAt: world.now() + LEASE_MS });
    world.bank.return(reference, 'AC06');
    await world.start();
    await until('both', () => world.typesOf(reference).length === 2);
    expect(world.typesOf(reference)).toEqual(['PayoutSettled', 'PayoutReturned']);
    expect((await world.payouts.load(reference))?.resolveAt).toBeUndefined();
  });

  it('of an unknown payout, or of another bank’s, is for an operator', async () => {
    const foreign = await leave(payout('10.50'), { bank: 'iso20022', resolveAt: world.now() + 10 * LEASE_MS });
    world.bank.return('NOBODYKNOWSTHISONE00', 'AC04');
    world.bank.return(foreign, 'AC04');
    await world.start();
    await until('acknowledged', () =>
      ['NOBODYKNOWSTHISONE00', foreign].every((one) => world.bank.acknowledged.includes(one)),
    );
    expect(world.lines.filter((line) => line.startsWith('a bank reports a payout'))).toHaveLength(2);
    expect((await world.payouts.load(foreign))?.state.kind).toBe('submitting');
  });

  it('after an end without success changes nothing and is for an operator', async () => {
    await world.start();
    const reference = await world.send(payout('31.01'));
    await world.isIn(reference, 'declined');
    world.bank.return(reference, 'AC04');
    await until('acknowledged', () => world.bank.acknowledged.includes(reference));
    expect((await world.payouts.load(reference))?.state.kind).toBe('declined');
    expect(world.lines.some((line) => line.startsWith('a bank contradicts') && line.includes(reference))).toBe(true);
  });
});

describe('custom parameters', () => {
  it('are shown on request if they are activated and known', async () => {
    const service = await world.start();
    const reference = await world.send(payout('10.50', { currency: 'EUR', feeE4: 6_050 }));
    await world.isIn(reference, 'settled');
    expect(await world.outcome(service, reference)).not.toHaveProperty('custom');
    await world.stopServices();
    const customParameters = [
      'custom_bank_id',
      'custom_bank_transaction_id',
      'custom_fee_eur',
      'custom_card_bin',
    ] as const;
    await world.accounts.change(MERCHANT, { customParameters });
    const again = await world.start();
    expect((await world.outcome(again, reference)).custom).toEqual({
      custom_bank_id: '77',
      custom_bank_transaction_id: `T-${reference}`,
      custom_fee_eur: '0.605',
    });
  });
});
