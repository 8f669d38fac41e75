import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seedDemoAccounts } from '@gateway/accounts';
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
  operationTypeOf,
} from '@gateway/contracts';
import type { MessageHandler } from '@gateway/messaging';
import { on } from '@gateway/messaging';
import type { World } from '@gateway/testing';
import { openWorld, testServers } from '@gateway/testing';
import { createApiEdge } from '../src/app';
import { settings } from '../src/config';
import type { PayoutOwner } from './payout-owner';
import { createPayoutOwner } from './payout-owner';

export const ORIGIN = 'https://pay.example';
export const CREDENTIALS = { api_version: 1, merchant_account: 'demo_merchant', merchant_password: 'demo_password' };
/** All fields of a SALE but its id and the credentials. */
export const SALE = {
  transaction_type: 'SALE',
  amount: '10.00',
  currency: 'XTS',
  card_number: '4111111111111111',
  card_exp_month: '12',
  card_exp_year: '2031',
  cvv: '073',
  card_holder: 'Ann Lee',
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};

/** Of the card that a follow-up is about. */
const CARD_TOKEN = 'f0000000-0000-4000-8000-000000000001';
const AUTHENTICATED = { acsUrl: 'https://3ds.example/challenge/1', pareq: 'UGFSZXE', eci: 5 };

const TOO_LATE = { status: 'error', code: 11 } as const;

type Told = Partial<OperationOutcome> | 'silence';

/** Plays card-processing: consumes commands, replies as the test says, and answers queries. */
export interface Owner {
  readonly commands: CardCommand[];
  readonly ended: DataOf<typeof EndCheckout>[];
  readonly announced: AnnounceOutcomeData[];
  readonly outcomes: Map<string, OperationOutcome>;
  /** Outcomes of the next commands. After the last one, commands succeed. */
  answers: Told[];
  /** While true, queries fail. */
  away: boolean;
  /** While set, each query for an outcome waits in here until the test calls it. */
  held: (() => void)[] | undefined;
  /** Plays the payout service, at the same address. */
  readonly payouts: PayoutOwner;
  /** Changes the outcome of an operation without a reply. */
  record(reference: string, outcome: Partial<OperationOutcome>): void;
  readonly url: string;
  close(): Promise<void>;
}

async function startOwner({ publisher, consume }: World): Promise<Owner> {
  const payouts = createPayoutOwner();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('content-type', 'application/json');
    const ofPayouts = await payouts.answer(request.url ?? '', request.socket);
    if (ofPayouts !== undefined) {
      response.statusCode = ofPayouts.status;
      response.end(JSON.stringify(ofPayouts.body));
      return;
    }
    if (owner.held !== undefined) await new Promise<void>((answered) => owner.held?.push(answered));
    const [, , reference = '', whole] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
    const found = [...owner.outcomes.values()].filter((outcome) =>
      whole === undefined ? outcome.reference === reference : outcome.paymentId === paymentIdOf(reference),
    );
    response.statusCode = owner.away ? 500 : whole === undefined && found.length === 0 ? 404 : 200;
    response.end(JSON.stringify(whole === undefined ? found[0] : found));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const handle = async (command: CardCommand, replyPartition: number | undefined): Promise<void> => {
    const { type, data } = command;
    const isNew = owner.commands.every((known) => known.data.reference !== data.reference);
    if (isNew) owner.commands.push(command);
    // The edge publishes a command again if it has no outcome by its deadline.
    const reply: Told = isNew ? (owner.answers.shift() ?? {}) : TOO_LATE;
    if (reply === 'silence') return;
    const outcome: OperationOutcome = {
      paymentId: data.paymentId,
      reference: data.reference,
      merchantAccount: data.merchantAccount,
      transactionUniqueId: data.transactionUniqueId,
      transactionType: operationTypeOf[type],
      ...('baseReference' in data ? { baseReference: data.baseReference } : {}),
      token: 'token' in data ? data.token : CARD_TOKEN,
      status: 'success',
      code: 0,
      message: messageOfCode(reply.code ?? 0),
      authcode: null,
      timestamp: data.acceptedAt,
      ...(type === 'AuthenticateCard' && reply.status === undefined ? AUTHENTICATED : {}),
      ...reply,
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
  const owner: Owner = {
    commands: [],
    ended: [],
    announced: [],
    outcomes: new Map(),
    answers: [],
    away: false,
    held: undefined,
    payouts,
    record(reference, outcome) {
      const known = owner.outcomes.get(reference);
      if (known === undefined) throw new Error(`${reference} is not on record`);
      owner.outcomes.set(reference, { ...known, ...outcome });
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
  await consume('owner', [
    ...handlers,
    payouts.handler,
    on(EndCheckout, async ({ data }) => void owner.ended.push(data)),
    on(AnnounceOutcome, async ({ data }) => void owner.announced.push(data)),
  ]);
  return owner;
}

export interface Response {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export type EdgeFixture = Awaited<ReturnType<typeof startEdgeFixture>>;

/** One edge with the demo accounts, and an owner of payments and payouts that the test directs. */
export async function startEdgeFixture(name: string, overrides: Record<string, string> = {}) {
  const servers = { ...testServers(), ...(overrides['MONGODB_URI'] && { mongoUri: overrides['MONGODB_URI'] }) };
  const world = await openWorld({ name, service: 'api-edge', database: 'edge', source: 'owner', servers });
  await seedDemoAccounts(world.accounts.administration);
  const owner = await startOwner(world);
  const own = {
    CARD_QUERY_URL: owner.url,
    PAYOUT_QUERY_URL: owner.url,
    CALLBACK_ADMIN_URL: owner.url,
    PORT: '0',
    PUBLIC_BASE_URL: ORIGIN,
    REPLY_TIMEOUT_MS: '2000',
    ...overrides,
  };
  const edge = await world.start(settings, own, createApiEdge);

  const request = (
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
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

  return {
    ...world,
    owner,
    edge,
    request,

    /** Posts JSON to the merchants' API, with the demo account's credentials. */
    async merchant(path: string, fields: object, headers: Record<string, string> = {}) {
      const body = JSON.stringify({ ...CREDENTIALS, ...fields });
      const { text } = await request('POST', path, body, { 'content-type': 'application/json', ...headers });
      return JSON.parse(text) as Record<string, unknown>;
    },

    async close() {
      await world.close();
      await owner.close();
    },
  };
}
