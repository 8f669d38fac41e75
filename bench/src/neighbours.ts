import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AccountSettings } from '@gateway/accounts';
import { accountKeysOf } from '@gateway/testing';
import { AccountError, openAccounts, SANDBOX_PAYOUTS } from '@gateway/accounts';
import { Secret } from '@gateway/contracts';
import { messageOf } from '@gateway/service-kit';
import { newCertificate } from './certificate';
import { senderTo } from './compare';
import { startGateway, startReplica } from './gateway';
import type { AttackName, AttackOrder } from './neighbours-attacks';
import { attacks } from './neighbours-attacks';
import type { MerchantAccess } from './neighbours-requests';
import { tokenizeOf } from './neighbours-requests';
import type { Figures, Receiver, Round } from './neighbours-victims';
import { isTold, measureVictim, paysOut, sells, startReceiver } from './neighbours-victims';
import type { OnEnd } from './run';
import { UsageError } from './run';

const PASSWORD = 'bench_password_of_32_characters_';
const FIRST_WARM_UP_MS = 10_000;
const RAMP_TIMEOUT_MS = 60_000;
const EDGE_PORT = 18_099;
const EDGE_OPS_PORT = 19_099;

interface Pace {
  windows: number;
  warmUpMs: number;
  measureMs: number;
  /** Pause after an attack, until its open work has ended. */
  calmMs: number;
}
const FULL: Pace = { windows: 3, warmUpMs: 2_000, measureMs: 10_000, calmMs: 12_000 };
const QUICK: Pace = { windows: 1, warmUpMs: 1_000, measureMs: 4_000, calmMs: 6_000 };

/** Throughput and p99 beside the attack, in multiples of those without attack. */
const TARGET = 0.7;
const TARGET_WITH_CPU = 0.5;
const TARGET_P99 = 3;

interface Plan {
  victim: 'sales' | 'payouts' | 'callbacks';
  /** The attack also uses the CPU. */
  usesCpu: boolean;
  /** Sends more than a sandbox account may. */
  isBulk?: true;
  /** Starts at an edge that has just started. */
  atFreshEdge?: true;
}

const plans: Record<AttackName, Plan> = {
  'slow-acquirer': { victim: 'sales', usesCpu: false },
  'unanswered-cards': { victim: 'sales', usesCpu: true },
  'unanswered-payouts': { victim: 'payouts', usesCpu: false, isBulk: true },
  'slow-bodies': { victim: 'sales', usesCpu: true },
  'hanging-callbacks': { victim: 'callbacks', usesCpu: false, isBulk: true },
  'password-guessing': { victim: 'sales', usesCpu: true, atFreshEdge: true },
  'rate-limit': { victim: 'sales', usesCpu: true },
};

interface Bench {
  baseUrl: string;
  rounds: Record<Plan['victim'], Round>;
  loud: MerchantAccess;
  bulk: MerchantAccess;
  pace: Pace;
  quick: boolean;
  onEnd: OnEnd;
}

/**
 * `npm run bench -- neighbours [--quick] [--only ATTACK[,ATTACK]]`: measures a merchant's service while another merchant,
 * or an unknown client, attacks. Alternates windows with and without attack, so that drift affects both alike.
 */
export async function runNeighbours(onEnd: OnEnd, args: readonly string[]): Promise<void> {
  const { only, quick } = optionsOf(args);
  const bench = await open(onEnd, quick);
  await measureVictim({ baseUrl: bench.baseUrl, round: bench.rounds.sales, warmUpMs: 0, measureMs: FIRST_WARM_UP_MS });
  console.log(
    '\nattack              victim    |  alone /s   p50 ms   p99 ms | beside /s   p50 ms   p99 ms | /s of   p99 x  failed | targets',
  );
  for (const attack of only) await compare(bench, attack);
}

function optionsOf(args: readonly string[]): { only: AttackName[]; quick: boolean } {
  const options = { only: { type: 'string' }, quick: { type: 'boolean', default: false } } as const;
  const values = valuesOf(() => parseArgs({ args: [...args], options, strict: true }).values);
  const names = Object.keys(attacks) as AttackName[];
  const only = values.only?.split(',') ?? names;
  const isAttack = (name: string): name is AttackName => name in attacks;
  if (!only.every(isAttack)) throw new UsageError(`--only takes some of ${names.join(', ')}`);
  return { only, quick: values.quick };
}

function valuesOf<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

async function open(onEnd: OnEnd, quick: boolean): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-neighbours-'));
  onEnd(() => rmSync(folder, { recursive: true }));
  const certificate = newCertificate(folder);
  const proxyPort = await startSlowAcquirer(onEnd);
  const { baseUrl, env } = await startGateway(onEnd, {
    SIMULATOR_URL: `http://127.0.0.1:${proxyPort}`,
    NODE_EXTRA_CA_CERTS: certificate.certFile,
  });
  const receiver: Receiver = await startReceiver(certificate);
  onEnd(() => receiver.close());
  const unlimited = { rateLimitPerSecond: 1_000_000, maxConcurrentRequests: 1_000 };
  const victim = await openMerchant(env, baseUrl, 'neighbour_victim', unlimited);
  return {
    baseUrl,
    rounds: { sales: sells(victim), payouts: paysOut(victim), callbacks: isTold(victim, receiver) },
    loud: await openMerchant(env, baseUrl, 'neighbour_loud', {}),
    bulk: await openMerchant(env, baseUrl, 'neighbour_bulk', {
      rateLimitPerSecond: 1_000,
      maxConcurrentRequests: 1_000,
    }),
    pace: quick ? QUICK : FULL,
    quick,
    onEnd,
  };
}

async function startSlowAcquirer(onEnd: OnEnd): Promise<number> {
  const proxy = forked('slow-acquirer.js');
  onEnd(() => void (proxy.connected && proxy.disconnect()));
  proxy.send({ port: Number(process.env['SIMULATOR_PORT'] ?? 8090) });
  const [port] = (await once(proxy, 'message')) as [number];
  return port;
}

/** A sandbox account with a tokenized card. It has sandbox limits unless `settings` overrides them. */
async function openMerchant(
  env: Record<string, string>,
  baseUrl: string,
  merchantAccount: string,
  settings: Partial<AccountSettings>,
): Promise<MerchantAccess> {
  const storage = { uri: env['MONGODB_URI'] ?? '', databasePrefix: env['DATABASE_PREFIX'] ?? '' };
  const accounts = await openAccounts({ ...storage, ...accountKeysOf(env) });
  try {
    await accounts.administration.create({
      merchantAccount,
      password: new Secret(PASSWORD),
      settings: { ...SANDBOX_PAYOUTS, ...settings },
    });
  } catch (error) {
    if (!(error instanceof AccountError && error.reason === 'exists')) throw error;
  } finally {
    await accounts.close();
  }
  const access = { merchantAccount, password: PASSWORD, token: '' };
  const { token } = await senderTo(baseUrl)(...tokenizeOf(access));
  return { ...access, token: String(token) };
}

interface Pair {
  alone: Figures;
  beside: Figures;
  /** Counts of the attacker's answers. */
  counts: Record<string, number>;
}

async function compare(bench: Bench, attack: AttackName): Promise<void> {
  const pairs: Pair[] = [];
  for (let count = 0; count < bench.pace.windows; count += 1) {
    const alone = await inWindow(bench, attack, (baseUrl) => measureFor(bench, attack, baseUrl));
    const beside = await inWindow(bench, attack, async (baseUrl) => {
      const attacker = await startAttack(bench, attack, baseUrl);
      const figures = await measureFor(bench, attack, baseUrl);
      return { figures, counts: await attacker.stop() };
    });
    pairs.push({ alone, beside: beside.figures, counts: beside.counts });
    await pause(bench.pace.calmMs);
  }
  print(attack, pairs);
}

function measureFor({ rounds, pace }: Bench, attack: AttackName, baseUrl: string): Promise<Figures> {
  const { victim, atFreshEdge } = plans[attack];
  // This attack is about the time right after a restart.
  const warmUpMs = atFreshEdge === true ? 0 : pace.warmUpMs;
  return measureVictim({ baseUrl, round: rounds[victim], warmUpMs, measureMs: pace.measureMs });
}

async function inWindow<T>(bench: Bench, attack: AttackName, work: (baseUrl: string) => Promise<T>): Promise<T> {
  if (plans[attack].atFreshEdge !== true) return work(bench.baseUrl);
  const edge = await startEdge(bench);
  try {
    return await work(edge.baseUrl);
  } finally {
    await edge.stop();
  }
}

/** Another replica of api-edge, which has not seen a password yet. */
async function startEdge({ onEnd }: Bench): Promise<{ baseUrl: string; stop(): Promise<void> }> {
  const settings = { PORT: String(EDGE_PORT) };
  const replica = { service: 'api-edge', opsPort: EDGE_OPS_PORT, settings, log: 'bench-edge.log' };
  return { baseUrl: `http://127.0.0.1:${EDGE_PORT}`, stop: await startReplica(replica, onEnd) };
}

async function startAttack(bench: Bench, attack: AttackName, baseUrl: string) {
  const child = forked('neighbours-attacker.js');
  bench.onEnd(() => void (child.connected && child.disconnect()));
  const access = plans[attack].isBulk === true ? bench.bulk : bench.loud;
  const order: AttackOrder = { attack, baseUrl, access, quick: bench.quick };
  child.send(order);
  const ramp = new AbortController();
  const late = pause(RAMP_TIMEOUT_MS, undefined, { signal: ramp.signal }).then(
    () => console.log(`  ${attack} did not reach full strength within ${RAMP_TIMEOUT_MS / 1_000} s`),
    () => undefined,
  );
  const died = once(child, 'exit').then(() => Promise.reject(new Error(`the attacker of ${attack} died`)));
  died.catch(() => undefined); // may reject while no race awaits it
  await Promise.race([once(child, 'message'), late, died]);
  ramp.abort();
  return {
    async stop(): Promise<Record<string, number>> {
      child.send('stop');
      const counts = await Promise.race([nextCounts(child), died]);
      child.disconnect();
      return counts;
    },
  };
}

/** `ready` may still be on its way. */
async function nextCounts(child: ChildProcess): Promise<Record<string, number>> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [Record<string, number> | 'ready'];
    if (message !== 'ready') return message;
  }
}

function forked(file: string): ChildProcess {
  return fork(join(__dirname, file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

function print(attack: AttackName, pairs: readonly Pair[]): void {
  const { victim, usesCpu } = plans[attack];
  const of = (side: 'alone' | 'beside', figure: keyof Figures) => median(pairs.map((pair) => pair[side][figure]));
  const figures = (side: 'alone' | 'beside') =>
    [pad(of(side, 'perSecond'), 9), pad(of(side, 'p50Ms'), 8), pad(of(side, 'p99Ms'), 8)].join(' ');
  const share = of('beside', 'perSecond') / of('alone', 'perSecond');
  const slowdown = of('beside', 'p99Ms') / of('alone', 'p99Ms');
  const failed = pairs.reduce((sum, { beside }) => sum + beside.failed, 0);
  const target = usesCpu ? TARGET_WITH_CPU : TARGET;
  const holds = share >= target && slowdown <= TARGET_P99 && failed === 0;
  const ratios = `${pad(share, 5, 2)} ${pad(slowdown, 7, 2)} ${pad(failed, 7, 0)}`;
  const verdict = `${target}${usesCpu ? ' (CPU)' : ''}, ${TARGET_P99} x, 0: ${holds ? 'yes' : 'NO'}`;
  console.log(
    `${attack.padEnd(19)} ${victim.padEnd(9)} | ${figures('alone')} | ${figures('beside')} | ${ratios} | ${verdict}`,
  );
  const failedAlone = pairs.reduce((sum, { alone }) => sum + alone.failed, 0);
  if (failedAlone > 0) console.log(`  failed alone: ${failedAlone}`);
  console.log(`  the attacker was answered: ${JSON.stringify(pairs.at(-1)?.counts)}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function pad(value: number, width: number, decimals = 1): string {
  return value.toFixed(decimals).padStart(width);
}
