import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { TEST_CARDS } from '@gateway/contracts';
import type { ListeningServer } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import { AREQ } from '../src/adapters/http/example-requests.fixture';
import type { Simulator } from '../src/app';
import type { Answer, Json } from './simulator-fixture';
import { DS_MESSAGE_KEY } from './simulator-fixture';

/** How a 3DS server reacts to a result message. */
export type Reaction = (response: ServerResponse, message: Json) => void;

export const status =
  (code: number, body: unknown = { messageType: 'Erro' }): Reaction =>
  (response) =>
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const resultResponse = ({ threeDSServerTransID, dsTransID, acsTransID }: Json): Json => ({
  messageType: 'RRes',
  messageVersion: '2.2.0',
  threeDSServerTransID,
  dsTransID,
  acsTransID,
  resultsStatus: '01',
});

export const take: Reaction = (response, message) => status(200, resultResponse(message))(response, message);

export interface ThreedsServer {
  readonly url: string;
  /** Raw result messages by threeDSServerTransID; only those with a valid signature. */
  results(threeDSServerTransID: string): string[];
  /** Forms that browsers posted here. */
  readonly notifications: URLSearchParams[];
  /** Reactions to the next result messages of a transaction, in order. All other messages are accepted. */
  react(threeDSServerTransID: string, ...reactions: Reaction[]): void;
  stop(): Promise<void>;
}

/** The receiving side of a 3DS server. Port 0 picks a free one. */
export async function startThreedsServer(port = 0): Promise<ThreedsServer> {
  const received: { id: unknown; body: string }[] = [];
  const notifications: URLSearchParams[] = [];
  const reactions = new Map<string, Reaction[]>();
  const server: ListeningServer = await listen({
    port,
    host: '127.0.0.1',
    listener: (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        if (request.url === '/notification') {
          notifications.push(new URLSearchParams(body.toString()));
          return response.end('back at the shop');
        }
        const signature = createHmac('sha256', Buffer.from(DS_MESSAGE_KEY, 'base64')).update(body).digest('hex');
        if (request.headers['x-ds-signature'] !== `sha256=${signature}`) return response.writeHead(401).end();
        const message = JSON.parse(body.toString()) as Json;
        const id = message['threeDSServerTransID'] as string;
        received.push({ id, body: body.toString() });
        (reactions.get(id)?.shift() ?? take)(response, message);
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    results: (id) => received.filter((result) => result.id === id).map(({ body }) => body),
    notifications,
    react: (id, ...next) => reactions.set(id, next),
    stop: () => server.close(0),
  };
}

/** A valid AReq for a card that is challenged. */
export function authenticationRequest(server: { url: string }, fields: Json = {}): Json {
  return {
    ...AREQ,
    threeDSServerTransID: randomUUID(),
    threeDSServerURL: `${server.url}/results`,
    notificationURL: `${server.url}/notification`,
    acctNumber: TEST_CARDS.challenged.visa,
    purchaseAmount: '12345678',
    ...fields,
  };
}

export interface Form {
  action: string;
  fields: Record<string, string>;
  button: string;
}

export interface ShownPage {
  status: number;
  location: string | null;
  headers: Headers;
  text: string;
  forms: Form[];
}

/** A browser without scripts and a client of the directory server, for one simulator. */
export function bankClientOf(simulator: Simulator) {
  const base = `http://127.0.0.1:${simulator.ports.http}`;

  async function send(body: unknown): Promise<Answer> {
    const response = await fetch(`${base}/ds/v2/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  return {
    base,
    send,
    /** Starts a challenge, which must succeed. */
    challenge: async (request: Json): Promise<Json> => {
      const { body } = await send(request);
      if (body['transStatus'] !== 'C') throw new Error(`not challenged: ${JSON.stringify(body)}`);
      return body;
    },
    /** Opens the challenge of an ARes, as the 3DS server's form does. */
    open: (ares: Json, sessionData = 'c2Vzc2lvbg') =>
      post(`${base}/acs/v2/challenge`, { creq: challengeRequest(ares), threeDSSessionData: sessionData }),
  };
}

export type BankClient = ReturnType<typeof bankClientOf>;

export function challengeRequest({ threeDSServerTransID, acsTransID }: Json, fields: Json = {}): string {
  return encoded({
    messageType: 'CReq',
    messageVersion: '2.2.0',
    threeDSServerTransID,
    acsTransID,
    challengeWindowSize: '05',
    ...fields,
  });
}

export function encoded(message: unknown): string {
  return Buffer.from(JSON.stringify(message)).toString('base64url');
}

/** Posts a form and does not follow redirects. */
export async function post(
  url: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<ShownPage> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  });
  const text = await response.text();
  return {
    status: response.status,
    location: response.headers.get('location'),
    headers: response.headers,
    text,
    forms: formsOf(text),
  };
}

/** Presses a button of a page. */
export function press(page: ShownPage, decision: string): Promise<ShownPage> {
  const form = page.forms.find(({ fields }) => fields['decision'] === decision);
  if (form === undefined) throw new Error(`no button for ${decision} in ${page.text}`);
  return post(form.action, form.fields);
}

function formsOf(text: string): Form[] {
  return [...text.matchAll(/<form method="post" action="([^"]*)">([^]*?)<\/form>/g)].map(([, action, inside = '']) => ({
    action: unescaped(action ?? ''),
    fields: Object.fromEntries(
      [...inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/g)].map(([, name, value]) => [
        unescaped(name ?? ''),
        unescaped(value ?? ''),
      ]),
    ),
    button: /<button [^>]*>([^<]*)<\/button>/.exec(inside)?.[1]?.trim() ?? '',
  }));
}

function unescaped(text: string): string {
  return text
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}
