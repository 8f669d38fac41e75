import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpClient } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { freePort } from '../support/free-port';
import { installPythonPackages } from '../support/python-packages';

const START_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 60_000;

/** An account at the bank. Behaviours are those of mock-bank's documentation. */
export interface BankAccount {
  id: string;
  name: string;
  iban: string;
  bic: string;
  currency: 'EUR';
  /** In cents. */
  balance: number;
  behaviour: string;
  parameters?: Record<string, unknown>;
}

/** A payment in the bank's own book. */
export interface BookedPayment {
  end_to_end_id: string;
  debtor_iban: string;
  /** In cents. */
  amount: number;
  status: 'accepted' | 'rejected';
  reason: string | null;
  booked_at: string | null;
  returned_at: string | null;
  return_reason: string | null;
}

interface State {
  clock: { now: string };
  payments: { accepted: number; rejected: number; returned: number };
}

/** mock-bank as a process: it takes files from `drop`, and puts what it says into `pickup`. */
export interface MockBank {
  readonly drop: string;
  readonly pickup: string;
  open(account: BankAccount): Promise<void>;
  /** Moves its clock, and does what falls due. */
  advance(days: number): Promise<void>;
  payments(): Promise<BookedPayment[]>;
  /** How many payments it has decided about. */
  decided(): Promise<number>;
  /** Ends it at once, and starts it again on the same book, at the same moment of its clock. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

/** @param clock its time at the start, `2026-11-26T09:00` */
export async function startMockBank(directory: string, clock: string): Promise<MockBank> {
  const packages = await installPythonPackages('mock-bank-0.9.0');
  const [drop, pickup] = [join(directory, 'drop'), join(directory, 'pickup')];
  mkdirSync(drop, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const http = createHttpClient({ baseUrl: url, timeoutMs: CALL_TIMEOUT_MS });
  const state = async () => (await http.get<State>('/_mock/state')).data;
  let child: ChildProcess;

  async function start(at: string): Promise<void> {
    const folders = [
      '--drop-dir',
      drop,
      '--pickup-dir',
      pickup,
      '--drop-interval-ms',
      '100',
      '--drop-settle-ms',
      '100',
    ];
    const book = ['--db', join(directory, 'bank.db'), '--clock', at, '--cutoff', '23:59'];
    child = spawn('python3', ['-m', 'mockbank', '--quiet', '--port', String(port), ...book, ...folders], {
      env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: 'ignore',
    });
    const isUp = async () => {
      if (child.exitCode !== null) throw new Error(`mock-bank has ended with ${child.exitCode}`);
      return isHealthy();
    };
    await until('the bank answers', isUp, START_TIMEOUT_MS);
  }

  async function isHealthy(): Promise<boolean> {
    return http.get('/_mock/health').then(
      () => true,
      () => false,
    );
  }

  async function kill(): Promise<void> {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }

  await start(clock);
  return {
    drop,
    pickup,
    open: async (account) => void (await http.post('/_mock/accounts', account)),
    advance: async (days) => void (await http.post(`/_mock/advance?days=${days}`)),
    async payments() {
      // Over the 1 MiB that our clients read.
      const answer = await fetch(`${url}/_mock/payments`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
      return (await answer.json()) as BookedPayment[];
    },
    async decided() {
      const { accepted, rejected, returned } = (await state()).payments;
      return accepted + rejected + returned;
    },
    async killAndRestart() {
      const { clock: its } = await state();
      await kill();
      await start(its.now.slice(0, 'YYYY-MM-DDTHH:MM'.length));
    },
    stop: kill,
  };
}
