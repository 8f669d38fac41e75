import { randomUUID } from 'node:crypto';
import { InitiatePayout } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Payout } from '../src/app';
import type { World } from './payout-fixture';
import { IBAN, MERCHANT, openWorld, OTHER_MERCHANT, payout, RECEIVER_NAME, testScreening } from './payout-fixture';

let world: World;
let service: Payout;
const rules = testScreening();

beforeAll(async () => {
  world = await openWorld('payout');
  service = await world.start({}, { screening: rules.screening });
});
afterAll(() => world.close());
afterEach(() => rules.rule(() => ({ passed: true })));

const published = (reference: string, type: string) =>
  until(`${type} of ${reference}`, () => world.eventsOf(reference).find((event) => event.type === type));

describe('a payout that the bank settles', () => {
  it('publishes its events in order, and sends the merchant only the end', async () => {
    const command = payout('10.50', { custom: { custom_order: '7' } });
    const reference = await world.send(command);
    const final = await published(reference, 'PayoutSettled');
    expect(world.typesOf(reference)).toEqual(['PayoutAccepted', 'PayoutScreened', 'PayoutSettled']);
    expect(world.eventsOf(reference).map(({ aggregateVersion }) => aggregateVersion)).toEqual([1, 2, 3]);
    expect(world.eventsOf(reference).map(({ data }) => data.callbackUrl)).toEqual([
      undefined,
      undefined,
      command.callbackUrl,
    ]);
    const { receiver: _receiver, description: _description, ...subject } = command;
    expect(final.data).toMatchObject({
      ...subject,
      receiverCountry: 'LT',
      bank: 'simulator',
      status: 'success',
      code: 0,
    });
    expect(final.key).toBe(command.payoutId);
  });

  it('reaches the bank as the merchant wrote it', async () => {
    const command = payout('10.50', { instant: true });
    const reference = await world.send(command);
    await world.isIn(reference, 'settled');
    expect(world.bank.submissions.filter(({ key }) => key === reference)).toEqual([
      {
        key: reference,
        body: {
          reference,
          amount: '10.5',
          currency: 'XTS',
          instant: true,
          description: 'Invoice 7',
          creditor: { name: RECEIVER_NAME, iban: IBAN },
        },
      },
    ]);
  });

  it('names its receiver in no event', async () => {
    const reference = await world.send(payout('10.50'));
    await published(reference, 'PayoutSettled');
    expect(JSON.stringify(world.events)).not.toMatch(new RegExp(`${IBAN}|${RECEIVER_NAME}|Tylioji|Invoice 7`));
    expect(world.lines.join()).not.toContain(IBAN);
  });

  it('runs however late the command is read', async () => {
    const acceptedAt = Date.now() - 6 * 86_400_000;
    const reference = await world.send(payout('10.50', { acceptedAt }));
    await world.isIn(reference, 'settled');
    expect(await world.outcome(service, reference)).toMatchObject({ status: 'success', timestamp: acceptedAt });
  });

  it('goes to the configured connector in EUR', async () => {
    const reference = await world.send(payout('10.50', { currency: 'EUR' }));
    await world.isIn(reference, 'settled');
    expect(world.bank.submissionsOf(reference)).toBe(1);
  });
});

describe('a payout that ends without success', () => {
  it.each([
    ['31.01', 'PayoutDeclined', 'declined', 3101, 'Insufficient funds'],
    ['32.00', 'PayoutFrauded', 'frauded', 3200, 'Declined by anti-fraud system'],
    ['33.10', 'PayoutFailed', 'error', 3310, 'Payout validation error'],
  ])('%s: %s, %s %d', async (amount, type, status, code, message) => {
    const command = payout(amount);
    const reference = await world.send(command);
    const event = await published(reference, type);
    expect(event.data).toMatchObject({ status, code, message, callbackUrl: command.callbackUrl });
    expect(await world.outcome(service, reference)).toMatchObject({ status, code, message });
    await until('its reservation is released', () => !rules.reserved.has(reference));
    await until('nothing is left to do', async () => (await world.payouts.load(reference))?.resolveAt === undefined);
  });

  it('keeps its end if its reservations cannot be released at once; a later claim releases them', async () => {
    rules.screening.failReleases = 1;
    const reference = await world.send(payout('31.01'));
    await until('the release was tried', () => rules.screening.failReleases === 0);
    await published(reference, 'PayoutDeclined');
    expect(rules.reserved.has(reference)).toBe(true);
    world.pass(30_000);
    await until('its reservation is released', () => !rules.reserved.has(reference));
  });

  it('a success keeps its reservations', async () => {
    const reference = await world.send(payout('10.50'));
    await world.isIn(reference, 'settled');
    expect(rules.reserved.has(reference)).toBe(true);
    expect((await world.payouts.load(reference))?.resolveAt).toBeUndefined();
  });
});

describe('a payout that a rule of its account hits', () => {
  it('is FRAUDED with the reason stored, and goes to no bank', async () => {
    rules.rule(() => ({ passed: false, code: 3202, rule: 'daily-amount', reason: 'more than 100 EUR today' }));
    const receiver = { iban: IBAN, name: RECEIVER_NAME, address: { country: 'IRN' } };
    const otherTokens = [randomUUID()];
    const command = payout('10.50', { receiver, otherTokens });
    const reference = await world.send(command);
    const event = await published(reference, 'PayoutFrauded');
    expect(event.data).toMatchObject({ status: 'frauded', code: 3202, callbackUrl: command.callbackUrl });
    expect(world.eventsOf(reference)[1]).toMatchObject({
      type: 'PayoutScreened',
      data: { passed: false, rule: 'daily-amount', reason: 'more than 100 EUR today', status: 'pending' },
    });
    expect(world.bank.submissionsOf(reference)).toBe(0);
    expect(rules.screened.at(-1)).toEqual({
      reference,
      merchantAccount: MERCHANT,
      amountE4: 105_000,
      currency: 'XTS',
      iban: IBAN,
      addressCountry: 'IR',
      tokens: [command.token, ...otherTokens],
      acceptedAt: command.acceptedAt,
    });
  });
});

describe('a bank that misbehaves', () => {
  it.each([
    ['31.09', 3109, 'settled', 0],
    ['31.17', 3117, 'settled', 0],
    ['31.18', 3118, 'failed', 3118],
    ['31.24', 3124, 'settled', 0],
    ['31.25', 3125, 'failed', 3125],
    ['31.33', 3109, 'settled', 0],
  ])('%s: PENDING %d, then %s %d', async (amount, first, state, last) => {
    const reference = await world.send(payout(amount));
    const unknown = await published(reference, 'PayoutOutcomeUnknown');
    expect(unknown.data).toMatchObject({ status: 'pending', code: first });
    expect(unknown.data.callbackUrl).toBeUndefined();
    await world.isIn(reference, state);
    expect((await world.outcome(service, reference)).code).toBe(last);
    // At most one effect, and the gateway agrees with the bank.
    expect(world.bank.submissionsOf(reference)).toBe(1);
    expect(world.bank.outcomes.has(reference)).toBe(state === 'settled');
    await published(reference, state === 'settled' ? 'PayoutSettled' : 'PayoutFailed');
  });

  it('an unreachable bank does not end a payout: it gets it once, when it is back', async () => {
    await world.stopServices();
    service = await world.start({ SIMULATOR_URL: 'http://127.0.0.1:1' }, { screening: rules.screening });
    const reference = await world.send(payout('10.50'));
    await published(reference, 'PayoutAccepted');
    world.pass(10_000);
    await until('it was tried again', async () => ((await world.payouts.load(reference))?.inquiries ?? 0) > 0);
    expect(await world.outcome(service, reference)).toMatchObject({ status: 'pending', code: 11 });
    await world.stopServices();
    service = await world.start({}, { screening: rules.screening });
    await world.isIn(reference, 'settled');
    expect(world.bank.submissionsOf(reference)).toBe(1);
  });
});

describe('a repeated command', () => {
  it('has no effect, however the payout ended', async () => {
    for (const amount of ['10.50', '31.01', '31.09']) {
      const command = payout(amount);
      await world.send(command);
      const reference = await world.send(command);
      await until('it ends', async () =>
        ['settled', 'declined'].includes((await world.payouts.load(reference))?.state.kind ?? ''),
      );
      await world.send(command);
      const marker = await world.send(
        payout('1', { payoutId: command.payoutId, reference: `${command.payoutId}ZZZZ` }),
      );
      await until('all that came before it', () => world.typesOf(marker).includes('PayoutSettled'));
      expect(world.bank.submissionsOf(reference)).toBe(1);
      expect(world.typesOf(reference).filter((type) => type === 'PayoutAccepted')).toHaveLength(1);
    }
  });

  it('after an end without success leaves nothing reserved', async () => {
    const command = payout('31.01');
    const reference = await world.send(command);
    await until('nothing is left to do', async () => {
      const stored = await world.payouts.load(reference);
      return stored?.state.kind === 'declined' && stored.resolveAt === undefined;
    });
    rules.reserved.add(reference);
    await world.send(command);
    await until('its reservation is released', () => !rules.reserved.has(reference));
  });
});

describe('a command that can never be processed', () => {
  it('ends with error 3000 and a callback if its handler fails for good', async () => {
    rules.rule(({ amountE4 }) => {
      if (amountE4 === 77_700) throw new Error('a defect');
      return { passed: true };
    });
    const command = payout('7.77');
    const reference = await world.send(command);
    const other = await world.send(payout('10.50'));
    const event = await published(reference, 'PayoutFailed');
    expect(event.data).toMatchObject({
      status: 'error',
      code: 3000,
      callbackUrl: command.callbackUrl,
      amountE4: 77_700,
    });
    expect(world.bank.submissionsOf(reference)).toBe(0);
    await world.isIn(other, 'settled');
  });

  it('ends with error 3000 if it is broken but still names its payout', async () => {
    const { token: _token, ...rest } = payout('10.50');
    const broken = { ...rest, amountE4: 'many', receiver: 'nobody' };
    await sendRaw(broken);
    await published(rest.reference, 'PayoutFailed');
    expect(await world.outcome(service, rest.reference)).toMatchObject({
      status: 'error',
      code: 3000,
      transactionUniqueId: rest.transactionUniqueId,
      amountE4: 0,
      currency: 'XTS',
      token: '00000000-0000-0000-0000-000000000000',
    });
    expect(world.bank.submissionsOf(rest.reference)).toBe(0);
  });

  it('that names no payout is for an operator', async () => {
    await sendRaw({ hello: 'world' });
    await until('the log says so', () => world.lines.some((line) => line.startsWith('a dead letter names no payout')));
  });
});

it('a merchant finds neither another’s payout nor an unknown one', async () => {
  const reference = await world.send(payout('10.50'));
  await world.isIn(reference, 'settled');
  for (const query of [`${reference}?account=${OTHER_MERCHANT}`, `${reference}`, `NOTHING?account=${MERCHANT}`]) {
    expect((await world.ask(service, `/payouts/${query}`)).status).toBe(404);
  }
});

function sendRaw(data: Record<string, unknown>): Promise<void> {
  return world.publisher.publish({
    declaration: { ...InitiatePayout, problem: () => undefined },
    data: data as never,
    key: typeof data['payoutId'] === 'string' ? data['payoutId'] : 'nothing',
  });
}
