import type { RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import type { Part } from '@gateway/service-frame';
import type { ListeningServer, Logger } from '@gateway/service-kit';
import { listen } from '@gateway/service-kit';
import type { ErrorRequestHandler } from 'express';
import express from 'express';
import { merchantEndpoints } from '../../application/endpoints';
import type { Config } from '../../config';
import { isoBankAddresses } from '../bank-addresses/iso';
import { openApiDocument } from '../openapi/document';
import { isOver } from './requests';

/** Nothing from elsewhere, and no frames. Swagger UI sets styles in its markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
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

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Payment gateway: API reference</title>
    <link rel="stylesheet" href="swagger-ui.css" />
    <link rel="icon" href="data:," />
  </head>
  <body>
    <main id="reference"></main>
    <script src="swagger-ui-bundle.js"></script>
    <script src="reference.js"></script>
  </body>
</html>
`;

/** Reading only: the API is on another origin and allows no browser. */
const SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
`;

/** Its main module would load the whole bundle into this process. */
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));
/** What the page loads of it. They are read when they are asked for. */
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];
const DRAIN_TIMEOUT_MS = 1_000;
/** The bundle has 1.7 MB, and a slow line may have 15 KB/s. */
const FILE_TIMEOUT_MS = 120_000;

/**
 * The API reference, generated from the declarations of the endpoints, on a port and thus an origin of its own: a fault
 * in its scripts must not reach the card-entry page. No part without a `REFERENCE_PORT`.
 */
export function referencePage({ REFERENCE_PORT: port, HOST: host }: Config, logger: Logger): Part[] {
  if (port === undefined) return [];
  let server: ListeningServer | undefined;
  return [
    {
      async start() {
        const listener = createReferenceListener();
        server = await listen({ listener, port, host, answerTimeoutMs: FILE_TIMEOUT_MS });
        logger.info('the API reference is open', { port: server.port });
      },
      async stop() {
        await server?.close(DRAIN_TIMEOUT_MS);
      },
    },
  ];
}

/** Such as a range that a file does not have. Otherwise Express would show its stack. */
const refuse: ErrorRequestHandler = ({ status = 500 }: { status?: number }, request, response, _next) => {
  if (isOver(request, response)) return void request.destroy();
  response.status(status).type('text').send('Not available\n');
};

/** Serves the page, what it loads, and the document for other tools. */
export function createReferenceListener(): RequestListener {
  const app = express().disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  let document: string | undefined;
  app.get('/', (_request, response) => void response.type('html').send(PAGE));
  app.get('/reference.js', (_request, response) => void response.type('js').send(SCRIPT));
  app.get('/openapi.json', (_request, response) => {
    document ??= JSON.stringify(openApiDocument(merchantEndpoints(isoBankAddresses)));
    response.type('json').send(document);
  });
  for (const file of FILES) {
    app.get(`/${file}`, (_request, response) => response.sendFile(join(SWAGGER_UI, file)));
  }
  app.use((_request, response) => void response.status(404).type('text').send('Not found\n'));
  return app.use(refuse);
}
