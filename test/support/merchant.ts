import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificate, HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer, until } from '@gateway/testing';
import { composed } from './composed-system';
import { noteCallback } from './documented-answers';

/**
 * A merchant's own server: takes callbacks, gets browsers back, and has the page that begins a classic 3-D Secure.
 * `/moved?as=STATUS&to=URL` redirects callbacks, and `/onward` redirects browsers to another origin.
 */
export interface Merchant {
  readonly url: string;
  /** The same server under another name, so that it is another origin. */
  readonly otherUrl: string;
  /** PEM of the authority that its certificate is trusted by. */
  readonly ca: string;
  /** Bodies of the callbacks that came, as they came. */
  readonly callbacks: URLSearchParams[];
  /** Queries that browsers brought to `/back`, and forms to `/term`. `/onward` takes both. */
  readonly returns: URLSearchParams[];
  /** The callback about an operation; waits for it. */
  callbackOf(reference: unknown): Promise<URLSearchParams>;
  /** Later callbacks are answered when the returned function is called. */
  hold(): () => void;
  /** A page of the merchant's own from now on. */
  show(path: string, markup: string): void;
  /** The fields that the merchant's page posts to the `acs_url` from now on. */
  offer(form: { acsUrl: string; fields: Record<string, string> }): void;
  close(): Promise<void>;
}

export async function startMerchant(): Promise<Merchant> {
  const certificate = composed === undefined ? await createCertificate() : givenCertificate(composed.directory);
  const callbacks: URLSearchParams[] = [];
  const returns: URLSearchParams[] = [];
  const pages = new Map<string, string>();
  let held: Promise<void> | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://merchant');
    const body = new URLSearchParams(await text(request));
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    switch (pathname) {
      case '/callback':
        noteCallback(body, request.headers);
        callbacks.push(body);
        await held;
        return void response.end('OK');
      case '/moved':
        callbacks.push(body);
        return void response
          .writeHead(Number(searchParams.get('as')), { location: searchParams.get('to') ?? '' })
          .end();
      case '/back':
        returns.push(searchParams);
        return void response.end('<title>Shop</title><h1>Back in the shop</h1>');
      case '/term':
        returns.push(body);
        return void response.end('<title>Shop</title><h1>Back in the shop</h1>');
      case '/onward':
        returns.push(body.has('PaRes') ? body : searchParams);
        return void response.writeHead(303, { location: `${otherUrl}/thanks` }).end();
      case '/thanks':
        return void response.end('<title>Shop</title><h1>Thank you</h1>');
      default: {
        const page = pages.get(pathname);
        return void (page === undefined ? response.writeHead(404).end() : response.end(page));
      }
    }
  }

  const server: HttpsServer = await startHttpsServer(
    certificate,
    (request, response) => void answer(request, response),
    composed?.merchant,
  );
  const otherUrl = `https://127.0.0.1:${new URL(server.url).port}`;
  return {
    url: server.url,
    otherUrl,
    ca: certificate.cert,
    callbacks,
    returns,
    callbackOf: (reference) =>
      until(`the callback about ${String(reference)}`, async () =>
        callbacks.find((callback) => callback.get('reference') === reference),
      ),
    hold() {
      let release = (): void => undefined;
      held = new Promise((resolve) => (release = resolve));
      return release;
    },
    show: (path, markup) => void pages.set(path, markup),
    offer({ acsUrl, fields }) {
      const inputs = Object.entries(fields).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
      );
      const form = `<form method="post" action="${acsUrl}">${inputs.join('')}<button>Pay</button></form>`;
      pages.set('/pay', `<title>Shop</title>${form}`);
    },
    close: () => server.close(),
  };
}

/** The one that the containers trust. */
function givenCertificate(directory: string): Certificate {
  const read = (file: string): string => readFileSync(join(directory, file), 'utf8');
  return { cert: read('merchant.crt'), key: read('merchant.key') };
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** interface.md, Authentication: true if `checkSum` matches the secret and the other values. */
export function isSigned(callback: URLSearchParams, secret: string): boolean {
  const values = [...callback].filter(([name]) => name !== 'checkSum').sort(([a], [b]) => (a < b ? -1 : 1));
  const text = [...values.map(([name, value]) => `${name}=${value}`), secret].join('|');
  return callback.get('checkSum') === createHash('sha256').update(text).digest('hex');
}
