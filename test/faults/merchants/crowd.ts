import { randomBytes } from 'node:crypto';
import type { OpenAccounts } from '@gateway/accounts';
import { SANDBOX_PAYOUTS } from '@gateway/accounts';
import { Secret } from '@gateway/contracts';
import { createHttpClient } from '@gateway/service-kit';
import type { Random } from '../random';
import type { World } from '../world/world';
import { TIMES } from '../world/world';
import type { Business, Shop } from './merchant';
import { work } from './merchant';
import type { MerchantClient } from './merchant-client';
import { createMerchantClient } from './merchant-client';
import type { Notebook } from './notebook';
import type { ReceiverOwner, Receivers } from './receivers';
import { cardNumberOf } from './requests';

/** An edge answers within its time-out. A later answer counts as lost. */
const ANSWER_TIMEOUT_MS = TIMES.replyTimeoutMs + 10_000;
const CHECKS_AT_ONCE = 16;
const CHECK_ROUNDS = 5;

/** Merchants that work at the same time. */
export interface Crowd {
  /** Stops the merchants and waits for their current scenarios. */
  stop(): Promise<void>;
  /** Calls CHECK for every request that was sent. */
  checkAll(): Promise<void>;
}

export function newOwners(count: number): ReceiverOwner[] {
  const secret = () => randomBytes(16).toString('hex');
  return Array.from({ length: count }, (_, index) => ({
    merchant: `merchant-${index + 1}`,
    password: secret(),
    payoutSecret: secret(),
  }));
}

/** Creates the merchants' accounts, each with a terminal of short holds; resolves with the terminals' names. */
export async function createAccounts(accounts: OpenAccounts, owners: readonly ReceiverOwner[]): Promise<string[]> {
  const created = owners.map(async ({ merchant, password, payoutSecret }) => {
    const { account } = await accounts.administration.create({
      merchantAccount: merchant,
      password: new Secret(password),
      payoutSecret: new Secret(payoutSecret),
      settings: { ...SANDBOX_PAYOUTS, returnHosts: ['localhost'] },
      terminals: [{ currency: 'XTS', holdSeconds: TIMES.holdSeconds }],
    });
    return account.terminals.find(({ holdSeconds }) => holdSeconds !== undefined)?.midReference ?? '';
  });
  return Promise.all(created);
}

export interface CrowdOptions {
  world: World;
  owners: readonly ReceiverOwner[];
  receivers: Receivers;
  terminals: readonly string[];
  notebook: Notebook;
  random: Random;
  business: Business;
  thinkMs: number;
}

export function startCrowd(options: CrowdOptions): Crowd {
  const { world, owners, notebook, random } = options;
  const edges = world
    .replicas('api-edge')
    .map(({ port }) => createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: ANSWER_TIMEOUT_MS }));
  const runId = randomBytes(3).toString('hex');
  let stopped = false;
  const shops = owners.map((owner, index): Shop => {
    const own = random.fork(owner.merchant);
    return {
      client: createMerchantClient({ ...owner, edges, random: own, notebook, runId }),
      cardNumber: cardNumberOf(index),
      url: options.receivers.all[index]?.url ?? '',
      shortHoldTerminal: options.terminals[index] ?? '',
      random: own,
      notebook,
    };
  });
  const { business, thinkMs } = options;
  const working = shops.map((shop) => work(shop, { business, thinkMs, stopping: () => stopped }));
  return {
    async stop() {
      stopped = true;
      await Promise.all(working);
    },
    checkAll: () => checkAll(new Map(shops.map(({ client }) => [client.merchant, client])), notebook),
  };
}

async function checkAll(clients: ReadonlyMap<string, MerchantClient>, notebook: Notebook): Promise<void> {
  let waiting = [...notebook.operations];
  for (let round = 0; round < CHECK_ROUNDS && waiting.length > 0; round += 1) {
    const again: typeof waiting = [];
    const queue = waiting.values();
    const worker = async (): Promise<void> => {
      for (const operation of queue) {
        const answer = await clients.get(operation.merchant)?.check(operation);
        if (answer === undefined) again.push(operation);
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, worker));
    waiting = again;
  }
  for (const { uniqueId } of waiting) notebook.trouble(`no answer to the last CHECK of ${uniqueId}`);
}
