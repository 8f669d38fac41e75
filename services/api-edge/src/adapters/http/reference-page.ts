import type { RequestListener } from 'node:http';
import type { Part } from '@gateway/service-frame';
import type { ListeningServer, Logger } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import { merchantEndpoints } from '../../application/endpoints';
import type { Config } from '../../config';
import { isoBankAddresses } from '../bank-addresses/iso';
import { openApiDocument } from '../openapi/document';
import { SCRIPT, STYLE } from '../reference/assets';
import { referencePages } from '../reference/pages';

/** Nothing from elsewhere, no frames, and requests to this origin alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const DRAIN_TIMEOUT_MS = 1_000;
const API = '/api/';

/**
 * The API reference, generated from the declarations of the endpoints, on a port and thus an origin of its own: a fault
 * in its scripts must not reach the card-entry page. It passes requests on to `api`, so that its pages can send some. No
 * part without a `REFERENCE_PORT`.
 */
export function referencePage(config: Config, api: RequestListener, logger: Logger): Part[] {
  const { REFERENCE_PORT: port, HOST: host, PUBLIC_BASE_URL: baseUrl } = config;
  if (port === undefined) return [];
  let server: ListeningServer | undefined;
  return [
    {
      async start() {
        server = await listen({ listener: createReferenceListener(baseUrl, api), port, host });
        logger.info('the API reference is open', { port: server.port });
      },
      async stop() {
        await server?.close(DRAIN_TIMEOUT_MS);
      },
    },
  ];
}

const READING = ['GET', 'HEAD'];

interface Content {
  readonly type: string;
  readonly body: string;
}

/** Serves the pages, what they load, the document for other tools, and the API below {@link API}. */
export function createReferenceListener(baseUrl: string, api: RequestListener): RequestListener {
  let contents: ReadonlyMap<string, Content> | undefined;
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path.startsWith(API)) return api(request, response);
    contents ??= contentsOf(baseUrl);
    const content = contents.get(path);
    if (content === undefined || !READING.includes(request.method ?? '')) {
      response.writeHead(404, { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' }).end('Not found\n');
      return;
    }
    response.writeHead(200, { ...HEADERS, 'Content-Type': `${content.type}; charset=utf-8` }).end(content.body);
  };
}

/** By path. */
function contentsOf(baseUrl: string): ReadonlyMap<string, Content> {
  const endpoints = merchantEndpoints(isoBankAddresses);
  const pages = Array.from(
    referencePages(Object.values(endpoints), baseUrl),
    ([path, body]) => [path, { type: 'text/html', body }] as const,
  );
  return new Map([
    ...pages,
    ['/reference.css', { type: 'text/css', body: STYLE }],
    ['/reference.js', { type: 'text/javascript', body: SCRIPT }],
    ['/openapi.json', { type: 'application/json', body: JSON.stringify(openApiDocument(endpoints)) }],
  ]);
}
