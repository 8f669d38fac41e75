import { randomBytes } from 'node:crypto';
import { newPaymentId, newReference, TEST_CARDS } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { recordingLogger, testServers } from '@gateway/testing';
import { createSimulator, readConfig } from '../src/app';
import type { Simulator } from '../src/app';

export const PAN = TEST_CARDS.notEnrolled.visa;
export const CVV = '739';
export const HOLDER = 'CARLA CARDHOLDER';
export const IBAN = 'DE89370400440532013000';
export const CREDITOR = 'CONRAD CREDITOR';
export const DESCRIPTION = 'Winnings of May';
const CARD = { number: PAN, expMonth: '12', expYear: '2031', cvv: CVV, holder: HOLDER };

/** Shared by directory server and 3DS server. */
export const DS_MESSAGE_KEY = randomBytes(32).toString('base64');

export type Json = Record<string, unknown>;

export interface Answer {
  status: number;
  body: Json;
}

export interface LedgerLine {
  at: string;
  operation: string | null;
  idempotencyKey: string;
  reference: string;
  amount: number | null;
  currency: string | null;
  eci?: string;
  effect: string;
}

export const mongoUri = (): string => testServers().mongoUri;

/** One database per test file, dropped at its end. */
export function newDatabasePrefix(): string {
  return `sim-${randomBytes(6).toString('hex')}-`;
}

export function connectDatabase(prefix: string): Promise<MongoConnection> {
  return connectMongo({ uri: mongoUri(), database: `${prefix}simulator` });
}

export async function dropDatabase(prefix: string): Promise<void> {
  const connection = await connectDatabase(prefix);
  await connection.mongoose.dropDatabase();
  await connection.close();
}

export async function startSimulator(
  prefix: string,
  settings: Record<string, string> = {},
  lines: string[] = [],
  now: () => number = Date.now,
): Promise<Simulator> {
  const config = readConfig({
    MONGODB_URI: mongoUri(),
    DATABASE_PREFIX: prefix,
    DS_MESSAGE_KEY,
    ALLOW_SIMULATED_MONEY: 'yes',
    SIMULATOR_PORT: '0',
    // Long enough to notice the silence, short enough to wait for its end.
    SIMULATOR_SILENCE_MS: '50',
    ...settings,
  });
  const simulator = createSimulator({ config, logger: recordingLogger(lines), now });
  await simulator.start();
  return simulator;
}

export const newPayment = (): string => newPaymentId(randomBytes);
export const referenceIn = (paymentId: string): string => newReference(paymentId, randomBytes);
export const newKey = (): string => referenceIn(newPayment());

/** A valid body for the acquirer. */
export function bodyOf(operation: string, reference: string, fields: Json = {}): Json {
  const charges = operation === 'authorize' || operation === 'sale';
  return {
    operation,
    reference,
    currency: 'XTS',
    mid: 'MD0123456789ABCD',
    ...(operation === 'void' ? {} : { amount: '50' }),
    ...(charges ? { card: CARD } : {}),
    ...fields,
  };
}

/** Calls one simulator like the gateway's connectors. `path` is where the counterpart accepts requests. */
function connectorOf(simulator: Simulator, path: string) {
  const base = `http://127.0.0.1:${simulator.ports.http}`;

  async function call(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(base + path, { ...init, method });
    return { status: response.status, body: (await response.json()) as Json };
  }

  function post(key: string, body: unknown, init: RequestInit = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return call('POST', path, { ...init, headers, body: text });
  }

  async function ledger(query: string): Promise<LedgerLine[]> {
    const { body } = await call('GET', `/ledger?${query}`);
    return body['entries'] as LedgerLine[];
  }

  return {
    base,
    call,
    post,
    inquire: async (key: string) => (await call('GET', `${path}/${key}`)).body,
    cancel: async (key: string) => (await call('POST', `${path}/${key}/cancel`)).body,
    ledger: (reference: string) => ledger(`reference=${reference}`),
    ledgerOfPayment: (paymentId: string) => ledger(`payment=${paymentId}`),
    effects: async (reference: string) => (await ledger(`reference=${reference}`)).map(({ effect }) => effect),
  };
}

/** A client of the acquirer. */
export function clientOf(simulator: Simulator) {
  const connector = connectorOf(simulator, '/acquirer/v1/operations');
  return {
    ...connector,
    /** Performs an operation with its reference as key. */
    perform: (operation: string, reference: string, fields: Json = {}) =>
      connector.post(reference, bodyOf(operation, reference, fields)),
  };
}

/** A valid body for the SEPA bank. */
export function payoutBodyOf(reference: string, fields: Json = {}): Json {
  return {
    reference,
    amount: '50',
    currency: 'XTS',
    instant: false,
    description: DESCRIPTION,
    creditor: { name: CREDITOR, iban: IBAN, bic: 'COBADEFFXXX' },
    ...fields,
  };
}

/** A client of the SEPA bank. */
export function payoutClientOf(simulator: Simulator) {
  const connector = connectorOf(simulator, '/bank/v1/payouts');

  async function returns(limit = 1000): Promise<Json[]> {
    return (await connector.call('GET', `/bank/v1/returns?limit=${limit}`)).body['returns'] as Json[];
  }

  return {
    ...connector,
    /** Pays out with its reference as key. */
    pay: (reference: string, fields: Json = {}) => connector.post(reference, payoutBodyOf(reference, fields)),
    /** The switch for tests. */
    comeBack: (key: string, body: unknown = { reasonCode: 'AC04' }) =>
      connector.call('POST', `/bank/v1/payouts/${key}/return`, { body: JSON.stringify(body) }),
    returns,
    /** Unacknowledged returns of one payout. */
    returnsOf: async (reference: string) => (await returns()).filter((line) => line['reference'] === reference),
    acknowledge: async (key: string) =>
      (await fetch(`${connector.base}/bank/v1/returns/${key}/acknowledgement`, { method: 'POST' })).status,
  };
}

export type PayoutClient = ReturnType<typeof payoutClientOf>;

export type Client = ReturnType<typeof clientOf>;

/** Performs an operation that must be approved, and returns its transaction id. */
export async function approvedTransaction(
  client: Client,
  operation: string,
  reference: string,
  fields: Json = {},
): Promise<string> {
  const { body } = await client.perform(operation, reference, fields);
  if (body['result'] !== 'approved') throw new Error(`not approved: ${JSON.stringify(body)}`);
  return body['transactionId'] as string;
}
