import type { ServiceDeclaration } from '@gateway/contracts';
import { services, TEST_CARDS } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Service } from '@gateway/service-kit';
import { createCallers, until } from '@gateway/testing';
import { runRecovery } from '../../deploy/operations/src/recovery';
import { freePort } from '../support/free-port';
import { startMerchant } from '../support/merchant';
import { payout, PAYOUT_PATH } from '../support/payouts';
import type { Storage } from '../support/storage';
import { openStorage } from '../support/storage';
import type { Body, System } from '../support/system';
import { CARD_PATH, cardRequest, clientOf, CREDENTIALS, startSystem } from '../support/system';
import type { Asked } from './books';
import { readBooks } from './books';

type Started = Service<{ ops: number }>;

/** Whose database is restored, in the order in which they start: merchants last. */
const RESTORED: readonly ServiceDeclaration[] = [
  services.cardProcessing,
  services.payout,
  services.authExpiry,
  services.threeds,
  services.callbackDispatcher,
  services.apiEdge,
];
/** Not the simulator's: that is the acquirers' and the banks' own book. */
export const DATABASES = [...RESTORED.map(({ database }) => database), 'vault'];
/** Until everything has an end, also what the acquirer is asked about. */
const ENDED_TIMEOUT_MS = 90_000;

/** A gateway whose services stop and start again, its merchant, and what the merchant remembers. */
export interface Gateway {
  readonly system: System;
  readonly mongo: MongoConnection;
  readonly storage: Storage;
  readonly asked: Asked[];
  named(database: string): string;
  /** @param databases of the services; default: all */
  stop(databases?: readonly string[]): Promise<void>;
  start(databases?: readonly string[]): Promise<void>;
  http(): ReturnType<typeof clientOf>;
  /** The answer, or the fault of the connection, which is not thrown. */
  ask(path: string, fields: Body): Promise<Body>;
  /** SALE, SALE3D without a challenge, and payout, in turn, each with a callback. */
  next(): { path: string; fields: Body };
  recovery(...args: string[]): Promise<{ code: number; lines: string[] }>;
  /** Ends the recovery as soon as that is possible. */
  endRecovery(): Promise<void>;
  /** Waits until nothing is pending, and compares the books of all parties. */
  booksAgree(): Promise<void>;
  close(): Promise<void>;
}

export async function openGateway(name: string, settings: Record<string, string> = {}): Promise<Gateway> {
  const [cards, payouts] = [String(await freePort()), String(await freePort())];
  const addresses = {
    CARD_QUERY_PORT: cards,
    PAYOUT_QUERY_PORT: payouts,
    CARD_QUERY_URL: `http://127.0.0.1:${cards}`,
    PAYOUT_QUERY_URL: `http://127.0.0.1:${payouts}`,
    REPLY_TIMEOUT_MS: '5000',
    AUTH_HOLDS: 'mastercard=3',
  };
  const merchant = await startMerchant();
  const system = await startSystem(name, { settings: { ...addresses, ...settings }, withoutProcessor: true });
  const callers = createCallers();
  const mongo = await connectMongo({ uri: system.space.mongoUri, database: 'admin' });
  const storage = await openStorage(system.space);
  // Started again with all others.
  await system.edge.stop();
  const asked: Asked[] = [];
  const running = new Map<string, Started>();
  let edgePort = 0;
  let count = 0;

  const starts: Record<string, () => Promise<Started>> = {
    [services.cardProcessing.database]: () => system.startProcessor(),
    [services.payout.database]: () => system.startPayouts(),
    [services.authExpiry.database]: () => system.startExpiry(),
    [services.threeds.database]: () => system.startThreeds(),
    [services.callbackDispatcher.database]: () => system.startDispatcher(merchant.ca),
    async [services.apiEdge.database]() {
      const edge = await system.startEdge();
      edgePort = edge.ports.api;
      return edge;
    },
  };
  const isOneOf = (databases: readonly string[]) => RESTORED.filter(({ database }) => databases.includes(database));
  const http = () => clientOf(edgePort);

  async function ask(path: string, fields: Body): Promise<Body> {
    const one: Asked = asked.find((before) => before.fields === fields) ?? { path, fields };
    if (!asked.includes(one)) asked.push(one);
    const answer = await http()
      .post<Body>(path, { ...CREDENTIALS, ...fields })
      .then(
        ({ data }) => data,
        (error: unknown): Body => ({ fault: String(error) }),
      );
    // A repeated id says nothing about the first request.
    if (answer['code'] !== undefined && answer['code'] !== 3001) one.answer ??= answer;
    return answer;
  }

  const callback = { callback_url: `${merchant.url}/callback` };
  const authenticated = {
    ...callback,
    redirect_url: `${merchant.url}/back`,
    card_number: TEST_CARDS.frictionless.visa,
  };
  const kinds = [
    () => ({ path: CARD_PATH, fields: cardRequest('SALE', callback) }),
    () => ({ path: CARD_PATH, fields: cardRequest('SALE3D', authenticated) }),
    () => ({ path: PAYOUT_PATH, fields: payout(callback) }),
  ] as const;

  async function recovery(...args: string[]): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = [];
    const operator = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('operator') };
    const code = await runRecovery(args, { ...system.env, ...operator }, (line) => void lines.push(line));
    return { code, lines };
  }

  return {
    ...{ system, mongo, storage, asked, http, ask, recovery },
    named: (database) => system.space.databasePrefix + database,
    async stop(databases = DATABASES) {
      for (const { database } of isOneOf(databases).reverse()) {
        await running.get(database)?.stop();
        running.delete(database);
      }
    },
    async start(databases = DATABASES) {
      for (const { database } of isOneOf(databases)) running.set(database, await starts[database]!());
    },
    next: () => kinds[count++ % kinds.length]!(),
    async endRecovery() {
      const end = async () => (await recovery('end', '--reason', 'restored')).code === 0;
      await until('the end of the recovery', end, ENDED_TIMEOUT_MS).catch(async (error: unknown) => {
        const { lines } = await recovery('list');
        throw new Error(lines.join('; '), { cause: error });
      });
    },
    async booksAgree() {
      const read = () => readBooks(http(), storage, asked);
      await until('an end of everything', async () => (await read()).pending.length === 0, ENDED_TIMEOUT_MS);
      const { merchant: told, stores, counterparts, contradictions } = await read();
      expect({ stores, counterparts, contradictions }).toEqual({
        stores: told,
        counterparts: told,
        contradictions: [],
      });
    },
    async close() {
      await mongo.close();
      await storage.close();
      await system.stop();
      await merchant.close();
      callers.remove();
    },
  };
}
