import { openAudit } from '@gateway/audit';
import type { AuditLog, Entry } from '@gateway/audit';
import { RESOLVER_LEASE_MS } from '@gateway/mongo';
import { createInternalApi, createMetrics, listen, openInternalAccess } from '@gateway/service-kit';
import { createCallers, silentLogger, until } from '@gateway/testing';
import type { AdminPorts } from '../src/adapters/http/admin-api';
import { adminRoutes } from '../src/adapters/http/admin-api';
import type { Payout } from '../src/app';
import type { BatchOperations, BatchSummary } from '../src/application/batch-ports';
import { runCli } from '../src/cli';
import type { World } from './payout-fixture';
import { MERCHANT, openWorld, OTHER_MERCHANT, payout } from './payout-fixture';

let world: World;
let service: Payout;
let audit: AuditLog & { close(): Promise<void> };

beforeAll(async () => {
  world = await openWorld('payout-operators');
  service = await world.start();
  const { mongoUri: uri, databasePrefix } = world.space;
  audit = await openAudit({ uri, databasePrefix, logger: silentLogger });
});
afterAll(async () => {
  await audit.close();
  await world.close();
});

/** The audit entries about it, oldest first. */
async function auditOf(subject: string): Promise<Entry[]> {
  return (await audit.list({ subject, limit: 50 })).toReversed();
}

const cli = (port: number, ...args: string[]) => cliWith({}, port, ...args);

async function cliWith(identity: { IDENTITY_TOKEN?: string }, port: number, ...args: string[]) {
  const lines: string[] = [];
  const env = { PAYOUT_QUERY_URL: `http://127.0.0.1:${port}`, ...identity };
  const exitCode = await runCli(args, env, (line) => lines.push(line));
  return { exitCode, text: lines.join('\n') };
}

describe('pages of a merchant', () => {
  it('show the merchant’s window, in its order', async () => {
    const second = Math.floor(Date.now() / 1000) - 1_000;
    const sent = await Promise.all(
      [0, 1, 2].map((index) => world.send(payout('10.50', { acceptedAt: (second + index) * 1000 + 999 }))),
    );
    const foreign = await world.send(payout('10.50', { merchantAccount: OTHER_MERCHANT, acceptedAt: second * 1000 }));
    for (const reference of [...sent, foreign]) await world.isIn(reference, 'settled');
    const window = `/payouts?account=${MERCHANT}&from=${second}&to=${second + 2}`;
    const all = await world.ask(service, window);
    expect(all.body).toMatchObject({ payouts: sent.map((reference) => ({ reference, status: 'success' })) });
    const newest = await world.ask(service, `${window}&order=desc&page=1&limit=1`);
    expect(newest.body['payouts']).toEqual([expect.objectContaining({ reference: sent[2], feeE4: 5_000 })]);
    expect((await world.ask(service, `${window}&order=acs`)).status).toBe(400);
  });
});

describe('the command line', () => {
  it('lists and shows payouts without their receivers', async () => {
    const reference = await world.send(payout('31.01'));
    await world.isIn(reference, 'declined');
    const port = service.ports.query;
    const list = await cli(port, 'list', '--state', 'declined', '--limit', '1');
    expect(list).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining(`${reference}\tdeclined\t3101`) as string,
    });
    expect(list.text).toContain('31.01 XTS');
    expect(list.text).toContain('1 payout');
    const show = await cli(port, 'show', reference);
    expect(JSON.parse(show.text)).toMatchObject({
      reference,
      state: 'declined',
      status: 'declined',
      message: 'Insufficient funds',
      screening: { passed: true },
      bankFacts: { name: 'Sandbox Bank' },
    });
    expect(show.text).not.toContain('Ona');
    expect(await cli(port, 'list', '--state', 'lost')).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('state is one of') as string,
    });
    expect(await cli(port, 'list', '--limit', '501')).toMatchObject({ exitCode: 2 });
    expect((await cli(port, 'list', '--account', MERCHANT)).text).toContain(reference);
    expect(await cli(port, 'list', '--account', 'nobody_else')).toEqual({ exitCode: 0, text: '0 payouts' });
    expect(await cli(port, 'show', 'NOBODY')).toEqual({ exitCode: 1, text: 'show failed: no such payout' });
  });

  it('asks the bank about an unknown payout now, and says when nothing is left to do', async () => {
    const reference = await world.send(payout('31.24'));
    await world.isIn(reference, 'unknown');
    let answer = await cli(service.ports.query, 'retry', reference);
    while (answer.text.includes('unknown')) answer = await cli(service.ports.query, 'retry', reference);
    expect(answer).toMatchObject({ exitCode: 0, text: expect.stringContaining(`${reference}\tsettled`) as string });
    expect(await cli(service.ports.query, 'retry', reference)).toEqual({
      exitCode: 1,
      text: 'retry failed: nothing is left to do: it is settled',
    });
    const entries = await auditOf(reference);
    expect(entries[0]).toMatchObject({
      phase: 'intent',
      action: 'payout.retry',
      before: { state: 'unknown', code: 3124 },
    });
    expect(entries.filter(({ after }) => after !== undefined)).toMatchObject([
      { after: { state: 'settled', code: 0 } },
    ]);
    expect(entries.at(-1)).toMatchObject({ phase: 'done', from: expect.stringContaining('127.0.0.1') as string });
    expect(await cli(service.ports.query, 'retry', 'NOBODY')).toEqual({
      exitCode: 1,
      text: 'retry failed: there is no such payout or batch',
    });
    expect(await cli(service.ports.query, 'cut')).toMatchObject({
      exitCode: 1,
      text: 'cut failed: no bank is connected that takes files',
    });
  });

  it.each(['hold', 'release', 'cancel'])(
    'refuses to %s what cannot be a name, before it is on record',
    async (name) => {
      const before = await audit.list({ limit: 1 });
      const path = name === 'hold' ? '/admin/holds' : `/admin/holds/${name}`;
      const { query } = service.ports;
      for (const account of ['a%0A9\tforged', '%F0%9F%92%A9', '%1B%5B2J', '', '%0A&all=yes', 'a&account=b&all=yes']) {
        const { status } = await fetch(`http://127.0.0.1:${query}${path}?account=${account}`, { method: 'POST' });
        expect(status).toBe(400);
      }
      expect(await audit.list({ limit: 1 })).toEqual(before);
    },
  );

  it('leaves who held, released and cancelled what in the audit log', async () => {
    const { query } = service.ports;
    for (const command of ['hold', 'cancel', 'release']) {
      expect(await cli(query, command, '--account', OTHER_MERCHANT)).toMatchObject({ exitCode: 0 });
    }
    const entries = await auditOf(`account ${OTHER_MERCHANT}`);
    expect(entries.map(({ action, phase }) => `${action} ${phase}`)).toEqual([
      ...['payouts.hold intent', 'payouts.hold done'],
      ...['payouts.cancel intent', 'payouts.cancel done'],
      ...['payouts.release intent', 'payouts.release done'],
    ]);
    expect(entries.flatMap(({ after }) => after ?? [])).toMatchObject([
      { result: 'held', waiting: 0 },
      { result: 'cancelled', ended: 0, more: false },
      { released: true, stillHeldBy: [] },
    ]);
  });

  it('refuses to ask a bank that is no longer connected', async () => {
    const reference = await world.send(payout('31.24'));
    await world.isIn(reference, 'unknown');
    await world.payouts.outboxes.updateOne({ _id: reference }, { $set: { bank: 'gone' } });
    expect(await cli(service.ports.query, 'retry', reference)).toEqual({
      exitCode: 1,
      text: 'retry failed: nobody was asked: its bank is not connected (PAYOUT_BANK)',
    });
  });

  it('cuts, lists and rewrites the batches of a bank that takes files', async () => {
    const batch: BatchSummary = {
      messageId: 'M1',
      debtor: 'LT12',
      instant: true,
      state: 'held',
      problem: 'invalid',
      payouts: 2,
      totalE4: 310_100,
      createdAt: 0,
    };
    const reportedAt = 1_000;
    const limits: number[] = [];
    const batches: BatchOperations = {
      cut: () => Promise.resolve([{ ...batch, state: 'frozen' }]),
      batches: (limit) => {
        limits.push(limit);
        return Promise.resolve([{ ...batch, reportedAt }]);
      },
      exceptions: () =>
        Promise.resolve([{ file: '1.xml', at: 0, messageId: 'R1', problems: ['X: booked twice', 'Y: no status'] }]),
      batchOf: () => Promise.resolve(undefined),
      waiting: () => Promise.resolve([]),
      countWaiting: () => Promise.resolve(0),
      withdraw: () => Promise.resolve(false),
      rewrite: (messageId) => Promise.resolve(messageId === 'M1' ? { ...batch, state: 'emitted' as const } : undefined),
    };
    const ports = { payouts: world.payouts, now: world.now, audit } as unknown as AdminPorts;
    const metrics = createMetrics('payout', { processFigures: false });
    const access = openInternalAccess({ INTERNAL_HOST: '127.0.0.1' }, { logger: silentLogger, metrics });
    const listener = createInternalApi({ routes: [adminRoutes(ports, batches)], access, logger: silentLogger });
    const { port, close } = await listen({ listener, port: 0, host: '127.0.0.1' });
    const line = (state: string, reported = '-') =>
      `M1\t${state}\t1970-01-01T00:00:00.000Z\t${reported}\tLT12\tinstant\t2\t31.01\tinvalid`;
    expect((await cli(port, 'cut')).text).toContain(line('frozen'));
    expect((await cli(port, 'batches', '--limit', '7')).text).toContain(line('held', '1970-01-01T00:00:01.000Z'));
    expect(await cli(port, 'batches', '--limit', '0')).toMatchObject({ exitCode: 2 });
    expect((await cli(port, 'exceptions')).text).toBe(
      '1970-01-01T00:00:00.000Z\t1.xml\tR1\n\tX: booked twice\n\tY: no status\n1 exception',
    );
    expect(await auditOf('reports')).toMatchObject([{ phase: 'intent', action: 'exceptions.show' }, { phase: 'done' }]);
    expect(limits).toEqual([7]);
    expect(await cli(port, 'retry', 'M1')).toEqual({ exitCode: 0, text: line('emitted') });
    expect(await cli(port, 'retry', 'M2')).toMatchObject({ exitCode: 1 });
    const before = await audit.list({ limit: 1 });
    const forged = `http://127.0.0.1:${port}/admin/batches/M%0A3/rewrite`;
    expect((await fetch(forged, { method: 'POST' })).status).toBe(404);
    expect(await audit.list({ limit: 1 })).toEqual(before);
    await close(0);
    expect(await auditOf('open batches')).toMatchObject([
      { phase: 'intent', action: 'batches.cut' },
      { phase: 'done', after: { batches: [{ messageId: 'M1', payouts: 2, totalE4: 310_100 }] } },
    ]);
    expect(await auditOf('M1')).toMatchObject([
      { phase: 'intent', action: 'batch.rewrite' },
      { phase: 'done', after: { state: 'emitted' } },
    ]);
  });
});

it('admits operators to commands, and services to queries', async () => {
  const callers = createCallers();
  const guarded = await world.start({ CALLERS_FILE: callers.file });
  const statusOf = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${guarded.ports.query}${path}`, { headers })).status;
  };
  for (const path of ['/payouts/X?account=a', '/admin/payouts', '/admin/batches', '/admin/holds']) {
    expect((await world.ask(guarded, path)).status).toBe(401);
    expect(await statusOf(path, callers.token('metrics'))).toBe(403);
  }
  expect(await statusOf('/admin/payouts', callers.token('api-edge'))).toBe(403);
  expect(await statusOf('/payouts/X?account=a', callers.token('api-edge'))).toBe(404);

  const { query } = guarded.ports;
  const operator = { IDENTITY_TOKEN: callers.token('operator') };
  expect(await cliWith(operator, query, 'list')).toMatchObject({ exitCode: 0 });
  const reference = await world.send(payout('31.24'));
  await world.isIn(reference, 'unknown');
  await cliWith(operator, query, 'retry', reference);
  expect(await auditOf(reference)).toMatchObject([
    { operator: 'operator', phase: 'intent' },
    { operator: 'operator', phase: 'done' },
  ]);
  expect(await cliWith({ IDENTITY_TOKEN: callers.token('api-edge') }, query, 'cut')).toEqual({
    exitCode: 1,
    text: 'cut failed: api-edge may not do this: its kind is api-edge',
  });
  expect(await cli(query, 'list')).toEqual({ exitCode: 1, text: 'list failed: identity token missing or unknown' });
  callers.remove();
});

it('is ready when everything is open, and counts the bank’s answers', async () => {
  const ready = await fetch(`http://127.0.0.1:${service.ports.ops}/health/ready`);
  expect(await ready.json()).toEqual({
    ready: true,
    checks: { started: true, clock: true, database: true, login: true, consumer: true, permitted: true },
    mode: 'ordinary',
  });
  const reference = await world.send(payout('10.50'));
  await world.isIn(reference, 'settled');
  await until('the metric', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${service.ports.ops}/metrics`)).text();
    return /gateway_outbound_call_seconds_count\{[^}]*answer="settled"[^}]*\} [1-9]/.test(metrics);
  });
});

it('does not start with an unknown bank', async () => {
  await expect(world.start({ PAYOUT_BANK: 'nobody' })).rejects.toThrow('PAYOUT_BANK is nobody; there are simulator');
});

it('keeps payouts of a currency without a bank until it has one', async () => {
  const lines = world.lines.length;
  await world.stopServices();
  await world.start({ SIMULATOR_URL: '', PAYOUT_BANK: 'none' });
  const reference = await world.send(payout('10.50'));
  // Those of the tests before have their turns as well.
  await world.isIn(reference, 'screened');
  await until('a turn has come', () =>
    world.lines.slice(lines).some((line) => line.includes('no connector of this name')),
  );
  expect((await world.payouts.load(reference))?.state.kind).toBe('screened');
  await world.stopServices();
  await world.start();
  world.pass(RESOLVER_LEASE_MS);
  await world.isIn(reference, 'settled');
});

it('does not start with the simulator as the bank of EUR, unless money may be simulated', async () => {
  await expect(world.start({ ALLOW_SIMULATED_MONEY: 'no' })).rejects.toThrow(
    'PAYOUT_BANK is simulator, which takes XTS alone',
  );
});
