import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAccounts, seedDemoAccounts } from '@gateway/accounts';
import type { OpenAccounts } from '@gateway/accounts';
import type {
  AnnounceOutcomeData,
  CardCommand,
  DataOf,
  MessageDeclaration,
  OperationOutcome,
} from '@gateway/contracts';
import {
  AnnounceOutcome,
  EndCheckout,
  OperationReplied,
  cardCommands,
  messageOfCode,
  paymentIdOf,
} from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { createKafka, createPublisher, createWorker, on } from '@gateway/messaging';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createMetrics, loadConfig } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { failTest, openSpace, silentLogger } from '@gateway/testing';
import type { ApiEdge } from '../src/app';
import { createApiEdge } from '../src/app';
import { settings } from '../src/config';
import type { PayoutOwner } from './payout-owner';
import { createPayoutOwner } from './payout-owner';

export const ORIGIN = 'https://pay.example';
export const CREDENTIALS = { api_version: 1, merchant_account: 'demo_merchant', merchant_password: 'demo_password' };

const OPERATION_TYPES = {
  AuthorizeCard: 'AUTH',
  SellCard: 'SALE',
  AuthenticateCard: 'AUTH3D',
  AuthenticateAndSellCard: 'SALE3D',
  SettleAuthorization: 'SETTLE',
  VoidAuthorization: 'VOID',
  RefundCharge: 'REFUND',
  TokenizeCard: 'TOKENIZE',
} as const;

const TOO_LATE = { status: 'error', code: 11 } as const;

type Told = Partial<OperationOutcome> | 'silence';

/** In card-processing's place: takes commands off the bus, answers as the test says, and answers queries. */
export interface Owner {
  readonly commands: CardCommand[];
  readonly ended: DataOf<typeof EndCheckout>[];
  readonly announced: AnnounceOutcomeData[];
  readonly outcomes: Map<string, OperationOutcome>;
  /** What comes of commands from now on, one after the other; then success. */
  answers: Told[];
  /** Answers no query while it is true. */
  away: boolean;
  /** In the payout service's place, at the same address. */
  readonly payouts: PayoutOwner;
  /** Puts another outcome of an operation on record, without telling anyone. */
  record(reference: string, outcome: Partial<OperationOutcome>): void;
  readonly url: string;
  stop(): Promise<void>;
}

async function startOwner(space: Space): Promise<Owner> {
  const kafka = createKafka({ brokers: space.brokers.split(','), clientId: 'owner', logger: silentLogger });
  const { topicPrefix } = space;
  const metrics = createMetrics('owner', { processFigures: false });
  const publisher = createPublisher({ kafka, source: 'owner', topicPrefix, metrics, logger: silentLogger });

  const payouts = createPayoutOwner();
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    const ofPayouts = payouts.answer(request.url ?? '');
    if (ofPayouts !== undefined) {
      response.statusCode = ofPayouts.status;
      response.end(JSON.stringify(ofPayouts.body));
      return;
    }
    const [, , reference = '', whole] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
    const found = [...owner.outcomes.values()].filter((outcome) =>
      whole === undefined ? outcome.reference === reference : outcome.paymentId === paymentIdOf(reference),
    );
    response.statusCode = owner.away ? 500 : whole === undefined && found.length === 0 ? 404 : 200;
    response.end(JSON.stringify(whole === undefined ? found[0] : found));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const handle = async (command: CardCommand, replyPartition: number | undefined): Promise<void> => {
    const { data } = command;
    const isNew = owner.commands.every((known) => known.data.reference !== data.reference);
    if (isNew) owner.commands.push(command);
    // The edge publishes again what nobody has picked up by its deadline.
    const told: Told = isNew ? (owner.answers.shift() ?? {}) : TOO_LATE;
    if (told === 'silence') return;
    const outcome: OperationOutcome = {
      paymentId: data.paymentId,
      reference: data.reference,
      merchantAccount: data.merchantAccount,
      transactionUniqueId: data.transactionUniqueId,
      transactionType: OPERATION_TYPES[command.type],
      ...('baseReference' in data ? { baseReference: data.baseReference } : {}),
      ...('token' in data ? { token: data.token } : {}),
      status: 'success',
      code: 0,
      message: messageOfCode(told.code ?? 0),
      authcode: null,
      timestamp: data.acceptedAt,
      ...told,
    };
    owner.outcomes.set(data.reference, outcome);
    if (replyPartition === undefined) return;
    await publisher.publish({
      declaration: OperationReplied,
      data: outcome,
      key: data.paymentId,
      partition: replyPartition,
    });
  };
  const handlers: MessageHandler[] = Object.values(cardCommands).map((declaration) =>
    on<unknown>(declaration as MessageDeclaration, ({ type, data, replyPartition }) =>
      handle({ type, data } as CardCommand, replyPartition),
    ),
  );
  const worker = createWorker({
    kafka,
    groupId: 'owner',
    topicPrefix,
    handlers: [
      ...handlers,
      payouts.handler,
      on(EndCheckout, async ({ data }) => void owner.ended.push(data)),
      on(AnnounceOutcome, async ({ data }) => void owner.announced.push(data)),
    ],
    publisher,
    onDeadLetter: async () => {},
    onFatal: failTest,
    metrics,
    logger: silentLogger,
  });
  const owner: Owner = {
    commands: [],
    ended: [],
    announced: [],
    outcomes: new Map(),
    answers: [],
    away: false,
    payouts,
    record(reference, outcome) {
      const known = owner.outcomes.get(reference);
      if (known === undefined) throw new Error(`${reference} is not on record`);
      owner.outcomes.set(reference, { ...known, ...outcome });
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await worker.stop();
      await publisher.stop();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
  await publisher.start();
  await worker.start();
  return owner;
}

function collectingLogger(lines: string[]): Logger {
  const write = (message: string, fields?: Record<string, unknown>): void => {
    const { error, ...others } = fields ?? {};
    lines.push(`${message} ${JSON.stringify(others)} ${error instanceof Error ? error.stack : ''}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}

export interface Response {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface EdgeFixture {
  readonly owner: Owner;
  readonly accounts: OpenAccounts;
  readonly edge: ApiEdge;
  /** The edge's own database. */
  readonly database: MongoConnection;
  /** Every log line so far. */
  readonly log: string[];
  /** Milliseconds by which the edge's clock is ahead. */
  skewMs: number;
  request(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Response>;
  /** Posts JSON to the merchants' API, with the demo account's credentials. */
  merchant(path: string, fields: object, headers?: Record<string, string>): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/**
 * One edge on real servers, with an owner of payments that the test directs. Where `overrides` names another
 * MONGODB_URI, whoever runs that server removes the data.
 */
export async function startEdgeFixture(name: string, overrides: Record<string, string> = {}): Promise<EdgeFixture> {
  const space = await openSpace(name);
  const mongoUri = overrides['MONGODB_URI'] ?? space.mongoUri;
  const key = (): string => randomBytes(32).toString('base64');
  const VAULT_KEYS = `k1:${key()}`;
  const accounts = await openAccounts({ uri: mongoUri, databasePrefix: space.databasePrefix, VAULT_KEYS });
  await seedDemoAccounts(accounts.administration);
  const owner = await startOwner(space);
  const log: string[] = [];
  const config = loadConfig(settings, {
    KAFKA_BROKERS: space.brokers,
    MONGODB_URI: mongoUri,
    TOPIC_PREFIX: space.topicPrefix,
    DATABASE_PREFIX: space.databasePrefix,
    VAULT_KEYS,
    VAULT_TOKEN_KEY: key(),
    JOURNAL_HMAC_KEY: key(),
    CARD_QUERY_URL: owner.url,
    PAYOUT_QUERY_URL: owner.url,
    PORT: '0',
    PUBLIC_BASE_URL: ORIGIN,
    REPLY_TIMEOUT_MS: '2000',
    ...overrides,
  });
  const logger = collectingLogger(log);
  const fixture = { skewMs: 0 };
  const edge = createApiEdge({ config, logger, now: () => Date.now() + fixture.skewMs, onFatal: failTest });
  await edge.start();
  const database = await connectMongo({ uri: mongoUri, database: `${space.databasePrefix}edge` });

  const request: EdgeFixture['request'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const options = { host: '127.0.0.1', port: edge.ports.api, method, path, agent: false };
      const sent = httpRequest({ ...options, headers: { ...form, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sent.once('error', reject);
      sent.end(body);
    });

  return Object.assign(fixture, {
    owner,
    accounts,
    edge,
    database,
    log,
    request,
    async merchant(path: string, fields: object, headers: Record<string, string> = {}) {
      const body = JSON.stringify({ ...CREDENTIALS, ...fields });
      const { text } = await request('POST', path, body, { 'content-type': 'application/json', ...headers });
      return JSON.parse(text) as Record<string, unknown>;
    },
    async stop() {
      await edge.stop();
      await owner.stop();
      await database.close();
      await accounts.close();
      await space.remove();
    },
  });
}
