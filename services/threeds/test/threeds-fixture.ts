import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthenticateCardholderData, ThreedsEvent } from '@gateway/contracts';
import {
  AuthenticateCardholder,
  newPaymentId,
  newReference,
  Secret,
  TEST_CARDS,
  threedsEvents,
} from '@gateway/contracts';
import type { Envelope } from '@gateway/messaging';
import { openWorld, silentLogger, until } from '@gateway/testing';
import { openVaultWriter } from '@gateway/vault';
import type { Threeds } from '../src/app';
import { createThreeds } from '../src/app';
import type { StoredAuthentication } from '../src/application/ports';
import { settings } from '../src/config';

export const PUBLIC_URL = 'https://threeds.example';
/** Where the directory server sends results. */
export const RESULTS_URL = 'https://results.example';
export const MERCHANT = 'shop_one';
export const MERCHANT_NAME = 'Müller & Söhne';
export const RETURN_HOST = 'pay.shop.example';
export const TERM_URL = `https://${RETURN_HOST}:8443/3ds/back?order=1`;
export const REDIRECT_URL = 'https://shop.example/thanks?lang=en#top';
export const CRYPTOGRAM = Buffer.alloc(20, 7).toString('base64');
export const VISA = TEST_CARDS.challenged.visa;
export const MASTERCARD = TEST_CARDS.challenged.mastercard;
export const CHALLENGE_SECONDS = 900;
export const DIRECTORY_TIMEOUT_MS = 300;

type Json = Record<string, unknown>;
export type Play = (request: Json, response: ServerResponse) => void;

/** A directory server whose answers the test sets per cardholder. */
export interface DirectoryServer {
  url: string;
  /** Every AReq so far. */
  requests: Json[];
  requestsOf(holder: string): Json[];
  plays: Map<string, Play>;
  close(): Promise<void>;
}

export async function startDirectory(): Promise<DirectoryServer> {
  const requests: Json[] = [];
  const plays = new Map<string, Play>();
  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      requests.push(body);
      const play = plays.get(String(body['cardholderName'])) ?? says({ transStatus: 'N' });
      play(body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    requestsOf: (holder) => requests.filter((request) => request['cardholderName'] === holder),
    plays,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Json;
}

export const ACS_URL = 'https://acs.bank.example/challenge';

/** Answers with a well-formed ARes that has these fields. */
export function says(fields: Json, status = 200): Play {
  return (request, response) =>
    send(response, status, {
      messageType: 'ARes',
      messageVersion: '2.2.0',
      threeDSServerTransID: request['threeDSServerTransID'],
      dsTransID: randomUUID(),
      acsTransID: randomUUID(),
      ...fields,
    });
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export const CHALLENGE = says({ transStatus: 'C', acsURL: ACS_URL });
export const SUCCESS = says({ transStatus: 'Y', eci: '05', authenticationValue: CRYPTOGRAM });

export type EventSeen = Envelope<ThreedsEvent['data']>;

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** A merchant, a directory server, cards, and a clock that only the test moves. */
export async function openFixture(name: string) {
  const world = await openWorld<ThreedsEvent['data']>({
    name,
    service: 'threeds',
    database: 'threeds',
    source: 'test',
    observed: Object.values(threedsEvents),
  });
  const { space, env, publisher } = world;
  const clock = { now: Date.now() };
  const directory = await startDirectory();
  const vault = await openVaultWriter({
    uri: space.mongoUri,
    databasePrefix: space.databasePrefix,
    CARD_PUBLIC_KEY: env['CARD_PUBLIC_KEY'] ?? '',
    CVV_PUBLIC_KEY: env['CVV_PUBLIC_KEY'] ?? '',
    TOKEN_KEYS: env['TOKEN_KEYS'] ?? '',
    // Only cards are stored here.
    publishCvvKey: async () => undefined,
    logger: silentLogger,
  });
  await world.accounts.administration.create({
    merchantAccount: MERCHANT,
    settings: { displayName: MERCHANT_NAME, returnHosts: [RETURN_HOST] },
  });
  const authentications = world.mongo.collection<StoredAuthentication>('authentications');

  /** A command for the card of a new cardholder. The directory server's answer depends on the cardholder. */
  async function newCommand(
    transactionType: 'AUTH3D' | 'SALE3D',
    changes: Partial<AuthenticateCardholderData> = {},
    pan = VISA,
  ): Promise<{ command: AuthenticateCardholderData; holder: string }> {
    const holder = `HOLDER ${randomBytes(6).toString('hex').toUpperCase()}`;
    const card = new Secret({ pan, expMonth: '12', expYear: '2031', holder });
    const owner = { merchantAccount: MERCHANT, realm: 'real' } as const;
    const put = await vault.vault.putCard(owner, card, { perBin: 1_000, inAll: 1_000 });
    if ('overLimit' in put) throw new Error('a card is over a limit');
    const { token } = put;
    const paymentId = newPaymentId(randomBytes);
    const command: AuthenticateCardholderData = {
      paymentId,
      reference: newReference(paymentId, randomBytes),
      merchantAccount: MERCHANT,
      transactionType,
      transactionUniqueId: `order-${randomBytes(5).toString('hex')}`,
      amountE4: 123_400,
      currency: 'EUR',
      token,
      midReference: 'MD0123456789ABCD',
      customer: { firstName: 'Carla', lastName: 'Card', country: 'DEU', email: 'c@example.org', ip: '192.0.2.7' },
      redirectUrl: REDIRECT_URL,
      acceptedAt: clock.now,
      deadline: clock.now + 30_000,
      ...changes,
    };
    return { command, holder };
  }

  async function publish(command: AuthenticateCardholderData): Promise<void> {
    await publisher.publish({ declaration: AuthenticateCardholder, data: command, key: command.paymentId });
  }

  const published = (reference: string): EventSeen[] => world.events.filter(({ data }) => data.reference === reference);

  /** Waits for `count` events of an operation. */
  const eventsOf = (reference: string, count: number): Promise<EventSeen[]> =>
    until(`${count} events of ${reference}`, () => {
      const events = published(reference);
      return events.length >= count && events;
    });

  return {
    ...world,
    clock,
    directory,
    authentications,
    newCommand,
    publish,
    eventsOf,
    published,

    start(): Promise<Threeds> {
      const own = {
        THREEDS_PORT: '0',
        THREEDS_PUBLIC_URL: PUBLIC_URL,
        THREEDS_RESULTS_URL: RESULTS_URL,
        DIRECTORY_SERVER_URL: directory.url,
        DIRECTORY_TIMEOUT_MS: String(DIRECTORY_TIMEOUT_MS),
        CHALLENGE_TIMEOUT_SECONDS: String(CHALLENGE_SECONDS),
      };
      return world.start(settings, own, (deps) => createThreeds({ ...deps, now: () => clock.now }));
    },

    /** Starts an operation and waits for its first event. */
    async begin(
      transactionType: 'AUTH3D' | 'SALE3D',
      play: Play,
      changes: Partial<AuthenticateCardholderData> = {},
      pan = VISA,
    ) {
      const { command, holder } = await newCommand(transactionType, changes, pan);
      directory.plays.set(holder, play);
      await publish(command);
      const [event] = await eventsOf(command.reference, 1);
      const [areq] = directory.requestsOf(holder);
      return { command, holder, areq, event: event as EventSeen, data: event?.data as Record<string, unknown> };
    },

    stored: async (reference: string): Promise<StoredAuthentication> => {
      const found = await authentications.findOne({ _id: reference });
      if (found === null) throw new Error(`${reference} is not stored`);
      return found;
    },

    /** Sends a result message as the directory server does. */
    async sendResult(threeds: Threeds, message: object, signature?: string | null) {
      const body = JSON.stringify(message);
      const key = Buffer.from(env['DS_MESSAGE_KEY'] ?? '', 'base64');
      const right = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
      const headers = signature === null ? {} : { 'x-ds-signature': signature ?? right };
      const response = await fetch(`http://127.0.0.1:${threeds.ports.http}/3ds/results`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      return { status: response.status, body: (await response.json()) as Json };
    },

    async close(): Promise<void> {
      await world.stopServices();
      await Promise.all([vault.close(), directory.close()]);
      await world.close();
    },
  };
}

export interface Page {
  status: number;
  headers: Headers;
  body: string;
}

/** Requests a public address from a replica, like a browser that follows no redirects. */
export async function browse(threeds: Threeds, url: string, form?: Record<string, string> | string): Promise<Page> {
  const { pathname, search } = new URL(url, PUBLIC_URL);
  const response = await fetch(`http://127.0.0.1:${threeds.ports.http}${pathname}${search}`, {
    redirect: 'manual',
    ...(form === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
        }),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** The form of a page that has one. */
export function formOf(page: Page): { action: string; fields: Record<string, string> } {
  const action = /<form method="post" action="([^"]*)"/.exec(page.body)?.[1];
  if (action === undefined) throw new Error(`no form in a page of status ${page.status}`);
  const inputs = page.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  const fields = Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, unescaped(value)]));
  return { action: unescaped(action), fields };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

export function formActionOf(page: Page): string | undefined {
  return /form-action ([^;]*)/.exec(page.headers.get('content-security-policy') ?? '')?.[1];
}

export function decodedMessage(text: string | undefined): Json {
  return JSON.parse(Buffer.from(text ?? '', 'base64url').toString()) as Json;
}

export function encodedMessage(message: object): string {
  return Buffer.from(JSON.stringify(message)).toString('base64url');
}
