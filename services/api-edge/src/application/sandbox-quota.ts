import type { Account } from '@gateway/accounts';
import { isSandbox } from '@gateway/accounts';
import { isTestCurrency, utcDay } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';

/** Records in the test currency by UTC day (`2026-11-26`), of all replicas. */
export interface TestRecordCounts {
  /** Adds to the counts of accounts on a day. Returns what they are now. */
  add(day: string, added: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>;
  /** Of all accounts, on all days that are kept. */
  total(): Promise<number>;
}

export const SANDBOX_LIMITS = ['account', 'disk'] as const;
/** `account`: its quota of a UTC day. `disk`: the budget of all accounts. */
export type SandboxLimit = (typeof SANDBOX_LIMITS)[number];

export interface SandboxRefusal {
  readonly limit: SandboxLimit;
  readonly retryAfterSeconds: number;
}

/** How many records in the test currency an account may have made, and all of them. */
export interface SandboxQuota {
  /** Why the account may make none now; undefined if it may. */
  refusal(merchantAccount: string): SandboxRefusal | undefined;
  count(merchantAccount: string): void;
  /** Exchanges counts with the other replicas. */
  exchange(): Promise<void>;
  /** Records of all accounts that are kept. */
  total(): number;
}

const DAY_MS = 86_400_000;
/** The budget has room again when old records are removed, which nobody can foresee. */
const DISK_RETRY_SECONDS = 3_600;

/**
 * Counts in memory, so that no request waits for it. Each exchange adds what is new to the database, and learns what the
 * other replicas have counted: until then, an account may exceed its quota by what it sends meanwhile. If an exchange gets
 * no answer, the next one repeats it, and may count twice.
 *
 * @param perDay records of an account
 * @param inAll records of all accounts that are kept
 */
export function createSandboxQuota(options: {
  counts: TestRecordCounts;
  perDay: number;
  inAll: number;
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
}): SandboxQuota {
  const { counts, perDay, inAll, now, logger } = options;
  /** By account, today: records of all replicas at the last exchange. */
  let known = new Map<string, number>();
  let unsent = new Map<string, number>();
  /** All of them: a sum over the accounts would cost each request more. */
  let unsentTotal = 0;
  let knownTotal = 0;
  let dayNumber = dayNumberOf(now());
  let day = utcDay(dayNumber * DAY_MS);
  /** Of days that are over, and could not be sent. */
  let left: { day: string; unsent: Map<string, number> }[] = [];
  const warned = new Set<string>();

  function replaceUnsent(counts: Map<string, number>): void {
    unsent = counts;
    unsentTotal = [...counts.values()].reduce((all, count) => all + count, 0);
  }

  /** Each request asks, so days are compared as numbers: to write a date costs more than all else here. */
  function turnDay(): void {
    const today = dayNumberOf(now());
    if (today === dayNumber) return;
    if (unsent.size > 0) left = [...left, { day, unsent }].slice(-DAYS_LEFT_MAX);
    dayNumber = today;
    day = utcDay(today * DAY_MS);
    known = new Map();
    replaceUnsent(new Map());
    warned.clear();
  }

  async function sendLeft(): Promise<void> {
    for (const one of left) {
      await counts.add(one.day, one.unsent);
      left = left.filter((other) => other !== one);
    }
  }

  /** What is counted while the database answers is sent next time. */
  async function sendToday(): Promise<void> {
    const sent = { day, unsent };
    replaceUnsent(new Map());
    try {
      const latest = sent.unsent.size === 0 ? new Map<string, number>() : await counts.add(sent.day, sent.unsent);
      if (sent.day === day) for (const [account, count] of latest) known.set(account, count);
    } catch (error) {
      if (sent.day === day) replaceUnsent(sum(sent.unsent, unsent));
      else left = [...left, sent].slice(-DAYS_LEFT_MAX);
      throw error;
    }
  }

  const total = (): number => knownTotal + unsentTotal;

  return {
    total,
    refusal(merchantAccount) {
      turnDay();
      const used = (known.get(merchantAccount) ?? 0) + (unsent.get(merchantAccount) ?? 0);
      if (used < perDay && total() < inAll) return undefined;
      const limit = used < perDay ? 'disk' : 'account';
      if (!warned.has(merchantAccount)) {
        warned.add(merchantAccount);
        logger.warn('an account gets no more records in the test currency for now', { merchantAccount, limit });
      }
      return { limit, retryAfterSeconds: limit === 'disk' ? DISK_RETRY_SECONDS : secondsOfDayLeft(now()) };
    },
    count(merchantAccount) {
      turnDay();
      unsent.set(merchantAccount, (unsent.get(merchantAccount) ?? 0) + 1);
      unsentTotal += 1;
    },
    async exchange() {
      turnDay();
      await sendLeft();
      await sendToday();
      knownTotal = await counts.total();
    },
  };
}

/** Longer than a database is away. */
const DAYS_LEFT_MAX = 3;

/** True for what may only become a record in the test currency: a sandbox account takes no other. */
export function isTestRequest(account: Pick<Account, 'state'>, request: object): boolean {
  if (isSandbox(account)) return true;
  return 'currency' in request && typeof request.currency === 'string' && isTestCurrency(request.currency);
}

function dayNumberOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

function secondsOfDayLeft(atMs: number): number {
  return Math.ceil((DAY_MS - (atMs % DAY_MS)) / 1_000);
}

function sum(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Map<string, number> {
  const all = new Map(a);
  for (const [account, count] of b) all.set(account, (all.get(account) ?? 0) + count);
  return all;
}
