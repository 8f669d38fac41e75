import { ADVICE, adviceOfCode, cardStatusOfCode, responseCodes, scenarios } from '@gateway/contracts';
import type { Html } from '@gateway/pages';
import { html, prose } from '@gateway/pages';
import type { OutcomeShape, Properties } from '../../application/answer-shapes';
import { CARD_CALLBACK, PAYOUT_CALLBACK } from '../../application/answer-shapes';
import type { Endpoint, Operation } from '../../application/endpoint';
import type { FieldNeed } from '../../domain/field-table';
import { hintOf } from '../../domain/field-table';
import { FIELD_MEANINGS } from '../../domain/field-names';
import type { Example } from '../openapi/examples';
import { CALLBACK_EXAMPLES, examplesOf, SAMPLE_ID } from '../openapi/examples';
import { rowsOf } from '../openapi/request-schemas';
import { snippetsOf } from './snippets';

/** The pages of the API reference by their paths. `baseUrl`: where merchants send requests. */
export function referencePages(endpoints: readonly Endpoint[], baseUrl: string): ReadonlyMap<string, string> {
  const operations = endpoints.flatMap((endpoint) =>
    endpoint.operations.map((operation) => {
      const page = operationPage(endpoint, operation, baseUrl);
      return [pathOf(operation), document(nameOf(endpoint, operation), page)] as const;
    }),
  );
  return new Map([
    ['/', document('API reference', operationList(endpoints))],
    ['/callbacks', document('Callbacks', callbacks())],
    ['/codes', document('Codes', codes())],
    ['/sandbox', document('Sandbox', sandbox())],
    ...operations,
  ]);
}

const pathOf = ({ title }: Operation): string => `/operations/${title}`;

/** As merchants say: its transaction type, or what its address does. */
function nameOf({ summary, operations }: Endpoint, { transactionType }: Operation): string {
  return operations.length === 1 || transactionType === undefined ? summary : `${summary}: ${transactionType}`;
}

function document(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Payment gateway</title>
        <link rel="stylesheet" href="/reference.css" />
        <link rel="icon" href="data:," />
      </head>
      <body>
        <header>
          <nav aria-label="Reference">
            <ul>
              <li><a href="/">Operations</a></li>
              <li><a href="/callbacks">Callbacks</a></li>
              <li><a href="/codes">Codes</a></li>
              <li><a href="/sandbox">Sandbox</a></li>
              <li><a href="/openapi.json">OpenAPI</a></li>
            </ul>
          </nav>
        </header>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.markup;
}

function operationList(endpoints: readonly Endpoint[]): Html {
  const lists = endpoints.map(
    (endpoint) =>
      html`<h2>${endpoint.summary}</h2>
        <p><code>POST ${endpoint.path}</code></p>
        <dl>
          ${endpoint.operations.map(
            (operation) =>
              html`<dt><a href="${pathOf(operation)}">${nameOf(endpoint, operation)}</a></dt>
                <dd>${prose(operation.summary)}</dd>`,
          )}
        </dl>`,
  );
  return html`${lists}`;
}

function operationPage(endpoint: Endpoint, operation: Operation, baseUrl: string): Html {
  const examples = examplesOf(operation);
  const sections = examples.map((example) => exampleSection(example, `${baseUrl}${endpoint.path}`));
  return html`<p>${prose(operation.summary)}</p>
    <p><code>POST ${endpoint.path}</code> with <code>${endpoint.contentTypes.join(', ')}</code></p>
    ${tryIt(endpoint, examples)}
    <h2>Fields</h2>
    ${fieldList(operation)}
    <h2>Answers</h2>
    <p>Every request that could be read gets HTTP 200: <code>status</code> and <code>code</code> have the outcome.</p>
    ${operation.outcomes.map(shapeOf)}
    <h2>Examples</h2>
    ${sections}`;
}

/** What an answer or a callback says, and the fields that it may have. */
function shapeOf({ title, description, properties = {} }: OutcomeShape): Html {
  const fields = Object.entries(properties as Properties);
  return html`<details>
    <summary>${title}: ${prose(description)}</summary>
    <dl>
      ${fields.map(
        ([name, schema]) =>
          html`<dt><code>${name}</code></dt>
            <dd>${typeof schema['description'] === 'string' && prose(schema['description'])}</dd>`,
      )}
    </dl>
  </details>`;
}

function callbacks(): Html {
  return html`<p>
      Forms that the gateway posts to your <code>callback_url</code>. Verify <code>checkSum</code>, or the signature in
      <code>webhook-signature</code> beside <code>webhook-id</code> and <code>webhook-timestamp</code>, and answer with
      200 and the body <code>OK</code>. The examples show the fields of a form; they are signed with secrets that nobody
      has.
    </p>
    ${[CARD_CALLBACK, PAYOUT_CALLBACK].map(shapeOf)}
    <h2>Examples</h2>
    ${Object.values(CALLBACK_EXAMPLES).map((example) => html`<pre><code>${JSON.stringify(example, null, 2)}</code></pre>`)}`;
}

/** Shown by the script, which sends it to this origin. */
function tryIt({ path }: Endpoint, [example]: readonly Example[]): Html {
  return html`<form hidden data-path="${path}" data-sample-id="${SAMPLE_ID}">
      <h2 id="try">Try it</h2>
      <label for="request">Request, sent to the sandbox</label>
      <textarea id="request" spellcheck="false">${JSON.stringify(example?.request, null, 2)}</textarea>
      <button>Send</button>
      <pre><output aria-label="Answer"></output></pre>
    </form>
    <script src="/reference.js" defer></script>`;
}

function fieldList(operation: Operation): Html {
  const rows = rowsOf(operation).filter(({ need }) => need !== 'forbidden');
  return html`<p>
      Besides <code>api_version</code>, <code>merchant_account</code> and <code>merchant_password</code>, which every
      request has${operation.transactionType !== undefined && html`, and the <code>transaction_type</code>`}:
    </p>
    <dl>
      ${rows.map(
        ({ name, need, ...rule }) =>
          html`<dt><code>${name}</code> <span class="muted">${needText(need)}</span></dt>
            <dd>${prose(`${FIELD_MEANINGS[name]} ${hintOf(rule)}.`)}</dd>`,
      )}
    </dl>`;
}

function needText(need: FieldNeed): string {
  return typeof need === 'string' ? need : `${need.otherwise}, but ${need.then} beside ${need.beside}`;
}

function exampleSection({ outcome, request, answer }: Example, url: string): Html {
  const [first, ...others] = snippetsOf(url, request);
  return html`<section>
    <h3>${outcome}</h3>
    <button hidden data-request="${JSON.stringify(request, null, 2)}">Try this</button>
    <details open>
      <summary>${first?.language}</summary>
      <pre><code>${first?.text}</code></pre>
    </details>
    ${others.map(
      ({ language, text }) =>
        html`<details>
          <summary>${language}</summary>
          <pre><code>${text}</code></pre>
        </details>`,
    )}
    <p>Answer:</p>
    <pre><code>${JSON.stringify(answer, null, 2)}</code></pre>
  </section>`;
}

function codes(): Html {
  return html`<dl>
    ${responseCodes.map(
      (entry) =>
        html`<dt>
            <strong>${entry.code}</strong> ${entry.message}
            <span class="muted"
              >${entry.outcomeUnknown === true ? 'outcome unknown' : cardStatusOfCode(entry.code)}</span
            >
          </dt>
          <dd>${ADVICE[adviceOfCode(entry.code)]}</dd>`,
    )}
  </dl>`;
}

function sandbox(): Html {
  return html`<p>
      XTS is the test currency. Any card works; these cards, amounts and fields make the sandbox do something other than
      approve.
    </p>
    <dl>
      ${scenarios().map(
        ({ name, fields, operations, outcome }) =>
          html`<dt>
              <code>${name}</code>
              ${Object.entries(fields).map(([field, value]) => html`<code>${field}=${value}</code> `)}
            </dt>
            <dd>${operations}: ${outcome}</dd>`,
      )}
    </dl>`;
}
