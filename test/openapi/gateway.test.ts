import type { NewAccount } from '@gateway/accounts';
import { RESPONSE_CODES, Secret, TEST_CARDS, responseCodes } from '@gateway/contracts';
import type { Space } from '@gateway/testing';
import { openSpace, until } from '@gateway/testing';
import type { ApiEdge } from '@gateway/api-edge';
import { isoBankAddresses } from '../../services/api-edge/src/adapters/bank-addresses/iso';
import type { Example } from '../../services/api-edge/src/adapters/openapi/examples';
import { examplesOf } from '../../services/api-edge/src/adapters/openapi/examples';
import type { Operation } from '../../services/api-edge/src/application/endpoint';
import { merchantEndpoints } from '../../services/api-edge/src/application/endpoints';
import { currentDocument } from '../support/documented-api';
import { get, press } from '../support/form-client';
import { freePort } from '../support/free-port';
import type { RawRequest } from '../support/http';
import { FORM_TYPE, formOf, JSON_TYPE, rawRequest } from '../support/http';
import type { Merchant } from '../support/merchant';
import { startMerchant } from '../support/merchant';
import { payout, PAYOUT_PATH, payoutClient } from '../support/payouts';
import { proofOf } from '../support/proofs';
import { startRecordingProxy } from '../support/recording-proxy';
import { requestProblems } from '../support/request-problems';
import { installSchemathesis, runSchemathesis } from '../support/schemathesis';
import type { Body, System } from '../support/system';
import {
  cardRequest,
  checkOf,
  CREDENTIALS,
  followUp,
  recordsOf,
  startSystem,
  tokenRequest,
  uniqueId,
} from '../support/system';
import { UNREACHED } from './codes';

/**
 * docs/openapi.yaml against a running gateway. Every answer in here is compared with the document as well, as in all
 * tests (test/support/documented-answers.ts).
 */

const PASSWORD = 'the_password';
const ACCOUNTS: NewAccount[] = [
  { merchantAccount: 'suspended_one' },
  { merchantAccount: 'fenced_out', settings: { ipAllowlist: ['10.0.0.0/8'] } },
  { merchantAccount: 'sales_only', settings: { transactionTypes: ['SALE', 'CHECK'] } },
  { merchantAccount: 'limited_one', settings: { limits: [{ currency: 'XTS', minE4: 50_000, maxE4: 100_000 }] } },
  { merchantAccount: 'active_one' },
  { merchantAccount: 'one_a_second', settings: { rateLimitPerSecond: 1 } },
  { merchantAccount: 'time_traveller' },
];
const INSTALL_TIMEOUT_MS = 400_000;
const FUZZ_MS = 20_000;
const FUZZ_TIMEOUT_MS = 110_000;
/** It takes one to two minutes. */
const COVERAGE_TIMEOUT_MS = 450_000;
/** Of right requests, and of wrong ones: fewer prove nothing. */
const REQUESTS_MIN = 1_000;
/** Of the forced declines: the edge admits 1,000 requests a second, and nobody else is here. */
const AT_ONCE = 8;

const DAY_SECONDS = 86_400;
/** Of one payment, at most: in all, and of those without effect. */
const OPERATIONS_MAX = 100;
const REFUSALS_MAX = 80;

let system: System;
/** Its commands reach nobody, and no owner answers it. */
let unheard: ApiEdge;
let elsewhere: Space;
let merchant: Merchant;
let referencePort: number;

beforeAll(async () => {
  referencePort = await freePort();
  const settings = { REFERENCE_PORT: String(referencePort) };
  system = await startSystem('openapi', { withPayouts: true, settings });
  merchant = await startMerchant();
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  const { administration } = system.accounts;
  await Promise.all(ACCOUNTS.map((account) => administration.create({ ...account, password: new Secret(PASSWORD) })));
  await administration.changeState('suspended_one', 'suspend');
  await administration.changeState('active_one', 'activate');
  elsewhere = await openSpace('openapi-elsewhere');
  unheard = await system.startEdge({
    ...{ PORT: '0', REFERENCE_PORT: '0', REPLY_TIMEOUT_MS: '500' },
    TOPIC_PREFIX: elsewhere.topicPrefix,
    CARD_QUERY_URL: 'http://127.0.0.1:9',
  });
});

afterAll(async () => {
  await system.stop();
  await elsewhere.remove();
  await merchant.close();
});

const seen = new Set<number>();

/** Every `code` in an answer, records included. */
function noteCodes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (name === 'code' && typeof part === 'number') seen.add(part);
    else noteCodes(part);
  }
}

async function send(request: RawRequest, port = system.edge.ports.api): Promise<Body> {
  const { body } = await rawRequest(port, request);
  noteCodes(body);
  return body;
}
const json = (path: string, fields: Body): RawRequest => ({ path, headers: JSON_TYPE, body: JSON.stringify(fields) });
const CARDS = '/api/pf/host-to-host';
const card = (fields: Body): Promise<Body> => send(json(CARDS, { ...CREDENTIALS, ...fields }));
const passwordOf = (merchant_account: string): Body => ({ merchant_account, merchant_password: PASSWORD });
const as = (account: string, fields: Body): Promise<Body> => card({ ...fields, ...passwordOf(account) });
const moveClock = (account: string, advance: number): Promise<Body> =>
  send(json('/api/sandbox/clock', { ...CREDENTIALS, ...passwordOf(account), advance }));

describe('examples', () => {
  const endpoints = Object.values(merchantEndpoints(isoBankAddresses));
  const pathOf = new Map(
    endpoints.flatMap((endpoint) => endpoint.operations.map(({ title }) => [title, endpoint.path] as const)),
  );
  const examples: Example[] = endpoints.flatMap<Operation>(({ operations }) => operations).flatMap(examplesOf);

  /** Sends it with an id of its own, after the example that it is about. */
  async function sent(
    { operation, request, after, isLate }: Example,
    asForm: boolean,
  ): Promise<{ sent: Body; answer: Body }> {
    const fields: Body = { ...request };
    const base = examples.find((one) => one.operation === after?.operation && one.outcome === after.outcome);
    const known = base === undefined ? undefined : await sent(base, false);
    const isNew = !/(?:Check|CheckoutExpire)$/.test(operation);
    if ('transaction_unique_id' in fields) {
      if (isNew) fields['transaction_unique_id'] = uniqueId();
      else if (known !== undefined) fields['transaction_unique_id'] = known.sent['transaction_unique_id'];
    }
    if ('reference' in fields && known !== undefined) fields['reference'] = known.answer['reference'];
    if ('callback_id' in fields && known !== undefined) {
      fields['callback_id'] = await callbackOf(known.answer['reference']);
    }
    if ('qod_type' in fields && after !== undefined) {
      const now = Math.floor(Date.now() / 1_000);
      Object.assign(fields, { time_from: now - 600, time_to: now + 600 });
    }
    const path = pathOf.get(operation) ?? '';
    const raw = asForm ? { path, headers: FORM_TYPE, body: formOf(fields) } : json(path, fields);
    const edge = isLate === true ? unheard : system.edge;
    return { sent: fields, answer: await send(raw, edge.ports.api) };
  }

  const callbackOf = (reference: unknown): Promise<unknown> =>
    until('its callback', async () => {
      const { callbacks } = await send(json('/api/pf/callbacks', { ...CREDENTIALS, reference }));
      return (callbacks as Body[])[0]?.['callback_id'];
    });

  /** An answer without what differs each time. */
  const shapeOf = ({ status, code, message, errors, ...others }: Body) => ({
    status,
    code,
    message,
    // Links begin with the gateway's own address.
    errors: (errors as Body[] | undefined)?.map(({ docs, ...error }) => ({
      ...error,
      docs: String(docs).replace(/^https?:[/]{2}[^/]+/, ''),
    })),
    fields: Object.keys(others).sort(),
  });

  test.each(
    examples.filter(({ rare }) => rare === undefined).map((one) => [`${one.operation}: ${one.outcome}`, one] as const),
  )('%s', async (_name, example) => {
    const { answer } = await sent(example, false);
    expect(shapeOf(answer)).toEqual(shapeOf(example.answer as Body));
    if (pathOf.get(example.operation)?.startsWith('/api/mp/') === true) return;
    const { answer: toForm } = await sent(example, true);
    expect(shapeOf(toForm)).toEqual(shapeOf(example.answer as Body));
  });
});

describe('codes', () => {
  const sale = (more: Body = {}) => cardRequest('SALE', more);

  /** CHECK says so of the operation, some time after what it was told. */
  async function untilChecked(ask: (fields: Body) => Promise<Body>, reference: unknown, code: number): Promise<void> {
    await until(`code ${code}`, async () => recordsOf(await ask(checkOf({ reference })))[0]?.code === code);
  }

  test('of requests and accounts', async () => {
    await send({ path: '/api/nowhere', body: '{}' });
    await send({ path: CARDS, body: 'no JSON' });
    await card({ api_version: 2 });
    await card(sale({ currency: 'none' }));
    await card(followUp('VOID', 'X'.repeat(20), { amount: '1.00' }));
    await card(sale({ merchant_password: 'wrong_password' }));
    await as('suspended_one', sale());
    await as('fenced_out', sale());
    await as('sales_only', cardRequest('AUTH'));
    await as('limited_one', sale({ amount: '1.00' }));
    await as('active_one', sale({ currency: 'EUR' }));
    await card(sale({ currency: 'EUR' }));
    await card(sale({ mid_reference: 'MD00000000000000' }));
    await card(sale({ amount: '0' }));
    await Promise.all(
      Array.from({ length: 6 }, () => as('one_a_second', checkOf({ transaction_unique_id: uniqueId() }))),
    );
    const query = { qod_type: 'transactions', time_from: 2, time_to: 1 };
    await send(json('/api/mp/transactions', { ...CREDENTIALS, ...query }));
  });

  test('of operations that do not follow from the one before', async () => {
    const repeated = sale();
    const { reference, token } = await card(repeated);
    await card(repeated);
    await card(tokenRequest('SALE', String(token).replaceAll(/[0-9a-f]/g, '0')));
    await card(followUp('SETTLE', '0'.repeat(20)));
    await card(followUp('VOID', reference));
    await card(followUp('REFUND', reference));
    await card(followUp('REFUND', reference));
    const auth = await card(cardRequest('AUTH'));
    await card(followUp('REFUND', auth['reference']));
    await card(followUp('SETTLE', auth['reference'], { amount: '99.00' }));
    await card(followUp('SETTLE', auth['reference']));
    await card(followUp('SETTLE', auth['reference']));
    const voided = await card(cardRequest('AUTH'));
    await card(followUp('VOID', voided['reference']));
    await card(followUp('VOID', voided['reference']));
    await card(checkOf({ transaction_unique_id: uniqueId() }));
  });

  test('of a payment that has no room for another operation', async () => {
    const { reference } = await card(cardRequest('AUTH', { amount: '41.01' }));
    const tooMuch = () => card(followUp('SETTLE', reference, { amount: '99.00' }));
    await Promise.all(Array.from({ length: REFUSALS_MAX }, tooMuch));
    // Declined each time, so that it can be tried again.
    for (let left = OPERATIONS_MAX - REFUSALS_MAX; left > 0; left -= 1) await card(followUp('VOID', reference));
  });

  test('of what a cardholder decides, and of a proof that is used twice', async () => {
    const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
    const request = cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa, ...urls });
    const { reference, acs_url } = await card(request);
    const issuer = await press(await get(String(acs_url)));
    await press(issuer, /cancel/i);
    await untilChecked(card, reference, RESPONSE_CODES.CANCELLED_BY_CARDHOLDER);
    const proven = await proofOf(card, `${merchant.url}/term`);
    await card(proven);
    await card({ ...proven, transaction_unique_id: uniqueId() });
  });

  test('of what has taken too long', async () => {
    const traveller = (fields: Body): Promise<Body> => as('time_traveller', fields);
    const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
    const auth = await traveller(cardRequest('AUTH'));
    const challenge = cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa, ...urls });
    const { reference } = await traveller(challenge);
    expect(await moveClock('time_traveller', 7 * DAY_SECONDS)).toMatchObject({ code: 0, followed: true });
    await traveller(followUp('SETTLE', auth['reference']));
    await untilChecked(traveller, reference, RESPONSE_CODES.TRANSACTION_EXPIRED);
  });

  test('that a bank answers with', async () => {
    const forced = responseCodes.map(({ code }) => code).filter((code) => code >= 3_100 && code < 3_300);
    const amounts = forced.map((code) => (code / 100).toFixed(2));
    for (let first = 0; first < amounts.length; first += AT_ONCE) {
      await Promise.all(amounts.slice(first, first + AT_ONCE).map((amount) => card(sale({ amount }))));
    }
    const payouts = payoutClient(system);
    for (const amount of ['33.00', '33.10', '33.11', '33.30']) {
      const { reference } = await send(json(PAYOUT_PATH, payout({ amount })));
      noteCodes(await payouts.ended({ reference }));
    }
  });

  test('of an outcome that is not known, and of an owner that does not answer', async () => {
    const { api } = unheard.ports;
    await send(json(CARDS, { ...CREDENTIALS, ...sale() }), api);
    const known = await card(sale());
    // While the edge has the request open, it can say PENDING.
    await until('it is closed', async () => {
      const checked = await send(json(CARDS, { ...CREDENTIALS, ...checkOf({ reference: known['reference'] }) }), api);
      return checked['code'] === RESPONSE_CODES.SERVICE_UNAVAILABLE;
    });
  });

  test('all of them are reached, but those that no request gets', () => {
    const missing = responseCodes.filter(({ code, name }) => !seen.has(code) && UNREACHED[name] === undefined);
    expect(missing.map(({ code, name }) => `${code} ${name}`)).toEqual([]);
    const reached = responseCodes.filter(({ code, name }) => seen.has(code) && UNREACHED[name] !== undefined);
    expect(reached.map(({ name }) => name)).toEqual([]);
  });
});

describe('the port of the reference', () => {
  test('offers the document, and nothing else', async () => {
    const document = await rawRequest(referencePort, { method: 'GET', path: '/openapi.json' });
    expect(document.body).toEqual(JSON.parse(JSON.stringify(currentDocument())));
    expect(document.headers['content-security-policy']).toContain("default-src 'none'");
    const other = await fetch(`http://127.0.0.1:${referencePort}/../package.json`);
    expect(other.status).toBe(404);
  });
});

describe('Schemathesis', () => {
  let packages: string;
  beforeAll(async () => {
    packages = await installSchemathesis();
  }, INSTALL_TIMEOUT_MS);

  test(
    'gets no fault, no undocumented answer, no refusal of a right request and no success of a wrong one',
    async () => {
      const proxy = await startRecordingProxy(system.edge.ports.api);
      const { url } = proxy;
      const document = currentDocument();
      const options = { packages, document, url, timeoutMs: COVERAGE_TIMEOUT_MS };
      const report = await runSchemathesis({ ...options, phases: 'examples,coverage' });
      expect(report).toContain(`Tested: ${Object.keys(document.paths).length}`);
      const { problems, right, wrong } = requestProblems(document, proxy.exchanges);
      await runSchemathesis({ ...options, phases: 'fuzzing', forMs: FUZZ_MS });
      await proxy.close();
      expect(problems).toEqual([]);
      expect(Math.min(right, wrong)).toBeGreaterThan(REQUESTS_MIN);
    },
    COVERAGE_TIMEOUT_MS + FUZZ_TIMEOUT_MS,
  );
});
