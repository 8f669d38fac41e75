import { until } from '@gateway/testing';
import type { HoldList } from '../src/adapters/http/hold-api';
import type { Payout } from '../src/app';
import { runCli } from '../src/cli';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, OTHER_MERCHANT, payout } from './payout-fixture';

/** The kill switch: the whole service, its command line, and a bank. */

/** The bank accepts these and never answers. */
const UNANSWERED = '31.09';
/** Accounts are cached this long. */
const REFRESH_MS = 30_000;
const CALLS_AT_ONCE = 16;
const SHARE = CALLS_AT_ONCE / 2;

let world: World;
let service: Payout;

beforeAll(async () => {
  world = await openWorld('payout-holds');
});
beforeEach(async () => {
  service = await world.start();
});
afterEach(async () => {
  const { body } = await world.ask(service, '/admin/holds');
  for (const { scope } of (body as unknown as HoldList).holds) await command('release', ...argumentsOf(scope));
  await world.stopServices();
});
afterAll(() => world.close());

function argumentsOf(name: string): string[] {
  const [kind = '', id = ''] = name.split(' ');
  if (kind === 'all') return ['--all'];
  return kind === 'account' ? ['--account', id] : [id];
}

async function cli(...args: string[]) {
  const lines: string[] = [];
  const env = { PAYOUT_QUERY_URL: `http://127.0.0.1:${service.ports.query}` };
  const exitCode = await runCli(args, env, (line) => lines.push(line));
  return { exitCode, text: lines.join('\n') };
}

/** A command that must succeed. */
async function command(...args: string[]): Promise<string> {
  const { exitCode, text } = await cli(...args);
  expect({ exitCode, text }).toEqual({ exitCode: 0, text });
  return text;
}

const stateOf = async (reference: string) => (await world.payouts.load(reference))?.state;
const sendMany = (count: number, fields: Parameters<typeof payout>[1] = {}) =>
  Promise.all(Array.from({ length: count }, () => world.send(payout('10.50', fields))));
const areIn = (references: string[], kind: string) =>
  Promise.all(references.map((reference) => world.isIn(reference, kind)));

describe('everything is held', () => {
  test('at both replicas and through a restart; then each payout is sent once', async () => {
    await world.start();
    expect(await command('hold', '--all')).toBe('all: held\n0 wait, and so will new ones');
    const before = await sendMany(10);
    const others = await sendMany(2, { merchantAccount: OTHER_MERCHANT });
    await areIn([...before, ...others], 'held');
    await world.stopServices();
    [service] = await Promise.all([world.start(), world.start()]);
    const after = await sendMany(10);
    await areIn(after, 'held');
    const all = [...before, ...others, ...after];
    expect(all.map((reference) => world.bank.submissionsOf(reference))).toEqual(all.map(() => 0));
    expect(await world.outcome(service, before[0] ?? '')).toMatchObject({ status: 'pending', code: 11 });
    expect(await command('holds')).toMatch(/^all\tsince .*Z\tby \S+\n1 hold$/);
    expect(await command('hold', '--all')).toBe('all: was held already\n22 wait, and so will new ones');
    expect(await command('release', '--all')).toBe('all: released');
    await areIn(all, 'settled');
    expect(all.map((reference) => world.bank.submissionsOf(reference))).toEqual(all.map(() => 1));
    for (const reference of all) {
      await until('its events', () => world.typesOf(reference).includes('PayoutSettled'));
      expect(world.typesOf(reference)).toEqual(['PayoutAccepted', 'PayoutScreened', 'PayoutSettled']);
    }
  });
});

describe('one account is held', () => {
  test('others are not; one payout stays held when the account is released', async () => {
    await command('hold', '--account', MERCHANT);
    const [first = '', second = ''] = await sendMany(2);
    const [other = ''] = await sendMany(1, { merchantAccount: OTHER_MERCHANT });
    await world.isIn(other, 'settled');
    await areIn([first, second], 'held');
    expect(await command('show', first)).toContain('"holdReason": "operator"');
    expect((await cli('retry', first)).text).toBe('retry failed: it is held; "holds" lists why');
    expect(await command('hold', first)).toBe(`payout ${first}: held\n1 wait, and so will new ones`);
    expect(await command('release', '--account', MERCHANT)).toBe(`account ${MERCHANT}: released`);
    await world.isIn(second, 'settled');
    expect(await stateOf(first)).toEqual({ kind: 'held', reason: 'operator' });
    expect(await command('list', '--state', 'held')).toContain('1 payout');
    await command('release', first);
    await world.isIn(first, 'settled');
  });

  test('a payout that is released while its account is held stays, and the command says so', async () => {
    await command('hold', '--account', MERCHANT);
    const [reference = ''] = await sendMany(1);
    await world.isIn(reference, 'held');
    await command('hold', reference);
    expect(await command('release', reference)).toBe(
      `payout ${reference}: released\nstill held by: account ${MERCHANT}`,
    );
    await command('release', '--account', MERCHANT);
    await world.isIn(reference, 'settled');
  });

  test('metrics and the log say that something is held', async () => {
    await command('hold', '--account', MERCHANT);
    await areIn(await sendMany(3), 'held');
    const metrics = await (await fetch(`http://127.0.0.1:${service.ports.ops}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_payout_holds\{scope="account"[^}]*\} 1$/m);
    expect(metrics).toMatch(/^gateway_payout_holds\{scope="all"[^}]*\} 0$/m);
    expect(metrics).toMatch(/^gateway_payouts_held(\{[^}]*\})? 3$/m);
    expect(
      world.lines.some(
        (line) => line.startsWith('an operator changed the holds on payouts') && line.includes(MERCHANT),
      ),
    ).toBe(true);
  });
});

describe('cancel', () => {
  test('ends one held payout with ERROR 3300, a callback and its place in the limits', async () => {
    await command('hold', '--account', MERCHANT);
    const [cancelled = '', kept = ''] = await sendMany(2);
    await areIn([cancelled, kept], 'held');
    expect(await command('cancel', cancelled)).toBe(`payout ${cancelled}: 1 cancelled, with ERROR 3300`);
    const event = await until('its end', () => world.eventsOf(cancelled).find(({ type }) => type === 'PayoutFailed'));
    expect(event.data).toMatchObject({ status: 'error', code: 3300, callbackUrl: 'https://shop.test/payouts' });
    expect(event.data.bank).toBeUndefined();
    await until('its place is free', async () => (await world.payouts.load(cancelled))?.resolveAt === undefined);
    const ledger = world.mongo.collection<{ _id: string }>('reservations');
    expect(await ledger.countDocuments({ _id: `${cancelled}/released` })).toBe(1);
    expect(await world.outcome(service, cancelled)).toMatchObject({ status: 'error', code: 3300 });
    expect(await stateOf(kept)).toMatchObject({ kind: 'held' });
    await command('release', '--account', MERCHANT);
    await world.isIn(kept, 'settled');
    expect(world.bank.submissionsOf(cancelled)).toBe(0);
  });

  test('ends all that an account, or everyone, has waiting; the hold stays', async () => {
    await command('hold', '--all');
    const references = await sendMany(20);
    const others = await sendMany(3, { merchantAccount: OTHER_MERCHANT });
    await areIn([...references, ...others], 'held');
    expect(await command('cancel', '--account', MERCHANT)).toBe(`account ${MERCHANT}: 20 cancelled, with ERROR 3300`);
    for (const reference of others) expect(await stateOf(reference)).toMatchObject({ kind: 'held' });
    expect(await command('cancel', '--all')).toBe('all: 3 cancelled, with ERROR 3300');
    const [late = ''] = await sendMany(1);
    await world.isIn(late, 'held');
    for (const reference of [...references, ...others]) {
      expect(await stateOf(reference)).toEqual({ kind: 'failed', code: 3300 });
    }
    expect(await command('cancel', late)).toContain('1 cancelled');
  });

  test('of an account leaves no hold on one of its payouts', async () => {
    await command('hold', '--account', MERCHANT);
    const [reference = ''] = await sendMany(1);
    await world.isIn(reference, 'held');
    await command('hold', reference);
    await command('cancel', '--account', MERCHANT);
    await until('the hold on the ended payout is over', async () => (await command('holds')).endsWith('1 hold'));
    expect(await command('holds')).toContain(`account ${MERCHANT}`);
  });

  test('is refused for what is not held, has ended, or is unknown', async () => {
    const [settled = ''] = await sendMany(1);
    await world.isIn(settled, 'settled');
    const refusals = [
      [
        ['cancel', '--account', MERCHANT],
        'cancel failed: it is not held: hold it first, so that nothing of it leaves meanwhile',
      ],
      [['cancel', '--all'], 'cancel failed: it is not held: hold it first, so that nothing of it leaves meanwhile'],
      [['cancel', settled], 'cancel failed: it has ended'],
      [['hold', settled], 'hold failed: it has ended'],
      [['cancel', 'NOBODY'], 'cancel failed: no such payout'],
      [['hold', 'NOBODY'], 'hold failed: no such payout'],
      [['hold', '--account', `${MERCHANT}x`], 'hold failed: no such account'],
      [['hold', '--account', MERCHANT.toUpperCase()], 'hold failed: no such account'],
      [['cancel', '--account', `${MERCHANT}x`], 'cancel failed: no such account'],
      [['release', '--all'], 'release failed: there is no such hold; "holds" lists them'],
    ] as const;
    for (const [args, text] of refusals) expect(await cli(...args)).toEqual({ exitCode: 1, text });
    expect((await world.ask(service, '/admin/holds?account=a&all=yes', 'POST')).status).toBe(400);
    expect((await world.ask(service, '/admin/holds', 'POST')).status).toBe(400);
    expect(await command('holds')).toBe('0 holds');
  });
});

test('a hold during submissions: those under way end as they do, no other one reaches the bank', async () => {
  await world.stopServices();
  service = await world.start({ SIMULATOR_TIMEOUT_MS: '60000', BANK_CALLS_AT_ONCE: String(CALLS_AT_ONCE) });
  const references = await Promise.all(Array.from({ length: 40 }, () => world.send(payout(UNANSWERED))));
  const submitted = () => references.filter((reference) => world.bank.submissionsOf(reference) > 0);
  await until('the share of the account hangs, and the rest waits', async () => {
    const waiting = await world.mongo.collection('payouts').countDocuments({ 'state.kind': 'screened' });
    return submitted().length === SHARE && waiting === references.length - SHARE;
  });
  const under = submitted();
  const held = await command('hold', '--account', MERCHANT);
  expect(held).toContain(`${references.length - SHARE} wait`);
  expect(held).toContain(`${SHARE} may be on their way`);
  const [one = ''] = under;
  expect((await cli('cancel', one)).text).toContain('cancel failed: its bank may have it');

  await world.stopServices();
  [service] = await Promise.all([world.start(), world.start()]);
  world.pass(120_000);
  await areIn(under, 'settled');
  const rest = references.filter((reference) => !under.includes(reference));
  await areIn(rest, 'held');
  expect(submitted()).toEqual(under);
  await command('release', '--account', MERCHANT);
  await areIn(rest, 'settled');
  for (const reference of references) expect(world.bank.submissionsOf(reference)).toBe(1);
});

describe('a payout that has waited is looked at again', () => {
  async function waiting(): Promise<string> {
    await command('hold', '--account', MERCHANT);
    const [reference = ''] = await sendMany(1);
    await world.isIn(reference, 'held');
    return reference;
  }
  const release = () => command('release', '--account', MERCHANT);

  test.each([
    [
      'suspended',
      () => world.accounts.changeState(MERCHANT, 'suspend'),
      () => world.accounts.changeState(MERCHANT, 'reopen'),
      'account-not-open',
    ],
    [
      'without payouts',
      () => world.accounts.change(MERCHANT, { payouts: false }),
      () => world.accounts.change(MERCHANT, { payouts: true }),
      'payouts-off',
    ],
  ] as const)('its account is %s: it waits until that ends', async (_, stop, resume, reason) => {
    const reference = await waiting();
    await stop();
    world.pass(REFRESH_MS);
    const [late = ''] = await sendMany(1);
    await world.isIn(late, 'held');
    await release();
    const [after = ''] = await sendMany(1);
    await until('held because of its account', async () => {
      const state = await stateOf(after);
      return state?.kind === 'held' && state.reason === reason;
    });
    expect([reference, late, after].map((one) => world.bank.submissionsOf(one))).toEqual([0, 0, 0]);
    expect(await command('cancel', after)).toContain('1 cancelled');
    await resume();
    world.pass(REFRESH_MS);
    await areIn([reference, late], 'settled');
  });

  test('its receiver is blocked meanwhile: it is FRAUDED', async () => {
    const reference = await waiting();
    const blocked = [{ kind: 'blocked-countries', countries: ['LT'] }] as const;
    await world.accounts.change(MERCHANT, { payoutRulesByKind: { 'blocked-countries': blocked } });
    world.pass(REFRESH_MS);
    await release();
    await until('its end', async () => (await stateOf(reference))?.kind === 'frauded');
    expect(await world.outcome(service, reference)).toMatchObject({ status: 'frauded', code: 3220 });
    expect(world.bank.submissionsOf(reference)).toBe(0);
    await world.accounts.change(MERCHANT, { payoutRulesByKind: { 'blocked-countries': [] } });
    world.pass(REFRESH_MS);
  });
});
