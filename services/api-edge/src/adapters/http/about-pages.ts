import { ERROR_REASONS } from '@gateway/contracts';
import { html, prose } from '@gateway/pages';
import type { Express, RequestHandler, Response } from 'express';
import type { Endpoint } from '../../application/endpoint';
import { ERRORS_PATH } from '../../application/responses';

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/** `GET /` says what this is, and `GET /errors` what the reasons in `errors` mean: the links of `docs` lead there. */
export function showAboutPages(
  app: Express,
  endpoints: readonly Pick<Endpoint, 'path' | 'contentTypes'>[],
  pace: RequestHandler,
): void {
  const about = aboutText(endpoints);
  const errors = errorsPage();
  app.get('/', pace, (_request, response) => show(response, 'text/plain; charset=utf-8', about));
  app.get(ERRORS_PATH, pace, (_request, response) => show(response, 'text/html; charset=utf-8', errors));
}

function show(response: Response, type: string, text: string): void {
  response.set(HEADERS).set('Content-Type', type).end(text);
}

function aboutText(endpoints: readonly Pick<Endpoint, 'path' | 'contentTypes'>[]): string {
  const lines = endpoints.map(({ path, contentTypes }) => `  POST ${path}  (${contentTypes.join(' or ')})`);
  return ['This is a payment gateway. Merchants send:', ...lines, `What errors mean: ${ERRORS_PATH}`, ''].join('\n');
}

function errorsPage(): string {
  const entries = Object.entries(ERROR_REASONS).map(
    ([reason, meaning]) =>
      html`<dt id="${reason}"><code>${reason}</code></dt>
        <dd>${prose(meaning)}</dd>`,
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Why a request was refused</title>
      </head>
      <body>
        <h1>Why a request was refused</h1>
        <p>What each <code>reason</code> in the <code>errors</code> of an answer means. The list only grows.</p>
        <dl>${entries}</dl>
      </body>
    </html>`.markup;
}
