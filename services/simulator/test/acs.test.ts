import { randomUUID } from 'node:crypto';
import { TEST_CARDS } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { until } from '@gateway/testing';
import { createAuthentications } from '../src/adapters/mongo/authentication';
import type { Simulator } from '../src/app';
import { answerChallenge } from '../src/application/authentication';
import type { Authentication } from '../src/domain/authentication';
import type { Json } from './simulator-fixture';
import { connectDatabase, dropDatabase, newDatabasePrefix, startSimulator } from './simulator-fixture';
import type { BankClient, Reaction, ShownPage, ThreedsServer } from './threeds-server-fixture';
import {
  authenticationRequest,
  bankClientOf,
  challengeRequest,
  encoded,
  post,
  press,
  resultResponse,
  startThreedsServer,
  status,
} from './threeds-server-fixture';

const prefix = newDatabasePrefix();
let server: ThreedsServer;
let replicas: Simulator[];
let one: BankClient;
let other: BankClient;
let database: MongoConnection;
/** How far the simulators' clocks are ahead. */
let aheadMs = 0;

beforeAll(async () => {
  server = await startThreedsServer();
  const now = (): number => Date.now() + aheadMs;
  replicas = await Promise.all([startSimulator(prefix, {}, [], now), startSimulator(prefix, {}, [], now)]);
  [one, other] = replicas.map(bankClientOf) as [BankClient, BankClient];
  database = await connectDatabase(prefix);
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await server.stop();
  await database.close();
  await dropDatabase(prefix);
});

const challenged = (fields: Json = {}): Promise<Json> => one.challenge(authenticationRequest(server, fields));
const transactionOf = (ares: Json): string => ares['threeDSServerTransID'] as string;
const resultsOf = (ares: Json): Json[] => server.results(transactionOf(ares)).map((body) => JSON.parse(body) as Json);

async function keptOf(ares: Json): Promise<Authentication> {
  const documents = database.collection<{ _id: string; authentication: Authentication }>('authentications');
  const document = await documents.findOne({ _id: ares['acsTransID'] as string });
  if (document === null) throw new Error('nothing kept');
  return document.authentication;
}

async function deliveryOf(ares: Json): Promise<Json> {
  const authentication = await keptOf(ares);
  return authentication.state === 'decided' ? { ...authentication.delivery } : {};
}

function expectErrorPage(page: ShownPage, code: number): void {
  expect([page.status, page.forms, page.location]).toEqual([code, [], null]);
  expect(page.text).toContain('<h1>Your bank');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
}

describe("the issuer's page", () => {
  it('shows what is paid, with which card, and three buttons', async () => {
    const page = await one.open(await challenged());
    expect(page.status).toBe(200);
    expect(page.text).toContain('<dd>demo_merchant</dd>');
    expect(page.text).toContain('1,234.5678 XTS');
    expect(page.text).toContain('<dd>•••• •••• •••• 1003</dd>');
    expect(page.text).not.toContain(TEST_CARDS.challenged.visa);
    expect(page.text).toContain('Your bank');
    expect(page.forms.map(({ button }) => button)).toEqual([
      'Confirm payment (success)',
      'Fail authentication',
      'Cancel',
    ]);
    expect(page.text.match(/<button type="submit" name="button" value="(success|failure|cancel)"/g)).toHaveLength(3);
  });

  it('works without scripts, may send its forms anywhere on the web, and is neither cached nor framed', async () => {
    const page = await one.open(await challenged());
    expect(page.text).not.toContain('<script');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("form-action 'self' http: https:;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('script-src');
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['1000', '2', '10.00 XTS', '963'],
    ['0', '4', '0.00 XTS', '963'],
    ['7', '0', '7 JPY', '392'],
    ['1500', '3', '1.500 KWD', '414'],
  ])('shows %s with exponent %s as %s', async (purchaseAmount, purchaseExponent, shown, purchaseCurrency) => {
    const page = await one.open(await challenged({ purchaseAmount, purchaseExponent, purchaseCurrency }));
    expect(page.text).toContain(`<dd class="total">${shown}</dd>`);
  });

  it("speaks the browser's language, errors too", async () => {
    const german = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' };
    const form = { creq: challengeRequest(await challenged({ merchantName: 'Müller & Söhne' })) };
    const page = await post(`${one.base}/acs/v2/challenge`, form, german);
    expect([page.headers.get('content-language'), page.headers.get('vary')]).toEqual(['de', 'Accept-Language']);
    expect(page.text).toContain('<html lang="de">');
    expect(page.text).toContain('Bitte bestätigen Sie Ihre Zahlung');
    expect(page.text).toContain('1.234,5678\u00a0XTS');
    expect(page.forms.map(({ button }) => button)).toEqual([
      'Zahlung bestätigen (Erfolg)',
      'Prüfung nicht bestehen',
      'Abbrechen',
    ]);
    const refused = await post(`${one.base}/acs/v2/challenge`, { creq: '' }, german);
    expect(refused.text).toContain('<h1>Ihre Bank kann nicht fortfahren</h1>');
    expect(refused.text).toContain('role="alert" lang="en">creq is missing or malformed</p>');
  });

  it('never turns what it was given into markup', async () => {
    const hostile = `"><script>alert('1')</script><img src=x onerror=alert(2)>&amp;`;
    const page = await one.open(await challenged({ merchantName: hostile }));
    expect(page.text).not.toMatch(/<script|<img/);
    expect(page.text).toContain('&lt;script&gt;');
    expectErrorPage(await one.open(await challenged(), '"><script>alert(1)</script>'), 400);
    expectErrorPage(
      await post(`${one.base}/acs/v2/challenge/%22%3E%3Cscript%3E/decision`, 'decision=%3Cscript%3E'),
      400,
    );
  });

  it('is the same when it is opened again, at the other replica too', async () => {
    const ares = await challenged();
    const first = await one.open(ares);
    const fields = ({ forms }: ShownPage) => forms.map((form) => form.fields);
    expect(fields(await one.open(ares))).toEqual(fields(first));
    expect(fields(await other.open(ares))).toEqual(fields(first));
    expect((await keptOf(ares)).state).toBe('challenged');
  });
});

describe('a decision', () => {
  it.each([
    ['success', TEST_CARDS.challenged.visa, 'Y', { transStatus: 'Y', eci: '05' }],
    ['success', TEST_CARDS.challenged.mastercard, 'Y', { transStatus: 'Y', eci: '02' }],
    ['failure', TEST_CARDS.challenged.visa, 'N', { transStatus: 'N' }],
    ['cancel', TEST_CARDS.challenged.visa, 'N', { transStatus: 'N', challengeCancel: '01' }],
  ])('%s with %s: the result goes to the 3DS server, then the browser', async (decision, acctNumber, told, result) => {
    const ares = await challenged({ acctNumber });
    const { threeDSServerTransID, dsTransID, acsTransID } = ares;
    const after = await press(await one.open(ares, 'b3BhcXVlX3RleHQ'), decision);
    // The receiver only records results with a valid signature.
    expect(resultsOf(ares)).toEqual([
      {
        messageType: 'RReq',
        messageVersion: '2.2.0',
        threeDSServerTransID,
        dsTransID,
        acsTransID,
        messageCategory: '01',
        interactionCounter: '01',
        ...result,
        ...(told === 'Y' ? { authenticationValue: expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/) as unknown } : {}),
      },
    ]);
    expect([after.status, after.location]).toEqual([307, `${server.url}/notification`]);
    expect(after.headers.get('cache-control')).toBe('no-store');
    expect(after.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await deliveryOf(ares)).toEqual({ state: 'taken', attempts: 1 });
  });

  it('takes the browser on, with the form that it has sent', async () => {
    const ares = await challenged();
    const { forms } = await one.open(ares, 'b3BhcXVlX3RleHQ');
    const { action, fields } = forms[1]!;
    const response = await fetch(action, { method: 'POST', body: new URLSearchParams(fields) });
    expect(await response.text()).toBe('back at the shop');
    const arrived = server.notifications.at(-1);
    expect(arrived?.get('threeDSSessionData')).toBe('b3BhcXVlX3RleHQ');
    expect(JSON.parse(Buffer.from(arrived?.get('cres') ?? '', 'base64url').toString())).toEqual({
      messageType: 'CRes',
      messageVersion: '2.2.0',
      threeDSServerTransID: ares['threeDSServerTransID'],
      acsTransID: ares['acsTransID'],
      challengeCompletionInd: 'Y',
      transStatus: 'N',
    });
  });

  it('made again leads to the same place, and sends nothing again', async () => {
    const ares = await challenged();
    const page = await one.open(ares);
    const first = await press(page, 'success');
    const kept = await keptOf(ares);
    const again = await press(page, 'success');
    expect([again.status, again.location]).toEqual([307, first.location]);
    expect(await keptOf(ares)).toEqual(kept);
    expect(resultsOf(ares)).toHaveLength(1);
  });

  it('made otherwise later changes nothing: the page leads on with the first one', async () => {
    const ares = await challenged();
    const page = await one.open(ares);
    await press(page, 'cancel');
    const kept = await keptOf(ares);
    const later = await press(page, 'success');
    const reopened = await other.open(ares);
    for (const answered of [later, reopened]) {
      expect([answered.status, answered.location]).toEqual([200, null]);
      expect(answered.text).toContain('You have already answered');
      expect(answered.forms.map(({ fields, button }) => [fields, button])).toEqual([[page.forms[2]!.fields, 'Go on']]);
      const on = await press(answered, 'cancel');
      expect([on.status, on.location]).toEqual([307, `${server.url}/notification`]);
    }
    expect(await keptOf(ares)).toEqual(kept);
    expect(resultsOf(ares)).toHaveLength(1);
  });

  it('of several at once is one, at two replicas: one result, and the others are told', async () => {
    for (let round = 0; round < 10; round++) {
      const ares = await challenged();
      const pages = await Promise.all([one.open(ares), other.open(ares)]);
      // The actions point to the first replica; the second one shares its database.
      pages[1].forms.forEach((form) => (form.action = form.action.replace(one.base, other.base)));
      const answers = await Promise.all(
        ['success', 'failure', 'cancel', 'success'].map((decision, index) => press(pages[index % 2]!, decision)),
      );
      expect(resultsOf(ares)).toHaveLength(1);
      const kept = await keptOf(ares);
      const won = kept.state === 'decided' ? kept.decision : undefined;
      expect(answers.map((answer) => answer.status)).toEqual(
        ['success', 'failure', 'cancel', 'success'].map((decision) => (decision === won ? 307 : 200)),
      );
    }
  });
});

describe('what is refused with a page, and leaves no trace', () => {
  it('a challenge that nobody began, or that needed none', async () => {
    const nobodys = { threeDSServerTransID: randomUUID(), acsTransID: randomUUID() };
    expectErrorPage(await one.open(nobodys), 404);
    const { body: frictionless } = await one.send(
      authenticationRequest(server, { acctNumber: TEST_CARDS.frictionless.visa }),
    );
    expectErrorPage(await one.open(frictionless), 404);
    for (const ares of [nobodys, frictionless]) {
      const action = `${one.base}/acs/v2/challenge/${String(ares['acsTransID'])}/decision`;
      expectErrorPage(await post(action, decisionFields(ares, 'success')), 404);
    }
    expect(resultsOf(frictionless)).toEqual([]);
  });

  it.each<[string, (ares: Json) => string | undefined]>([
    ['none', () => undefined],
    ['an empty one', () => ''],
    ['no base64url', () => '%%%'],
    ['no JSON', () => Buffer.from('{').toString('base64url')],
    ['null', () => encoded(null)],
    ['another message', (ares) => challengeRequest(ares, { messageType: 'CRes' })],
    ['another version', (ares) => challengeRequest(ares, { messageVersion: '2.1.0' })],
    ['no window size', (ares) => challengeRequest(ares, { challengeWindowSize: '06' })],
    ['no acsTransID', (ares) => challengeRequest(ares, { acsTransID: undefined })],
    ['an object as acsTransID', (ares) => challengeRequest(ares, { acsTransID: { $ne: '' } })],
    ["another transaction's id", (ares) => challengeRequest(ares, { threeDSServerTransID: randomUUID() })],
  ])('a creq: %s', async (_name, creqOf) => {
    const ares = await challenged();
    const creq = creqOf(ares);
    expectErrorPage(await post(`${one.base}/acs/v2/challenge`, creq === undefined ? {} : { creq }), 400);
    expect((await keptOf(ares)).state).toBe('challenged');
  });

  const decisionFields = (ares: Json, decision: string, transStatus = decision === 'success' ? 'Y' : 'N') => ({
    decision,
    cres: encoded({
      messageType: 'CRes',
      messageVersion: '2.2.0',
      threeDSServerTransID: ares['threeDSServerTransID'],
      acsTransID: ares['acsTransID'],
      challengeCompletionInd: 'Y',
      transStatus,
    }),
    threeDSSessionData: 'c2Vzc2lvbg',
  });

  it.each<[string, (ares: Json) => Record<string, string>]>([
    ['none', (ares) => ({ cres: decisionFields(ares, 'success').cres })],
    ['an unknown one', (ares) => decisionFields(ares, 'constructor')],
    ['no cres', () => ({ decision: 'success', threeDSSessionData: '' })],
    ["another decision's cres", (ares) => decisionFields(ares, 'success', 'N')],
    ["a failure with a success's cres", (ares) => decisionFields(ares, 'failure', 'Y')],
    ['another challenge in the cres', (ares) => decisionFields({ ...ares, acsTransID: randomUUID() }, 'success')],
    ['another transaction', (ares) => decisionFields({ ...ares, threeDSServerTransID: randomUUID() }, 'success')],
    ['hostile session data', (ares) => ({ ...decisionFields(ares, 'success'), threeDSSessionData: 'a b' })],
    ['too long session data', (ares) => ({ ...decisionFields(ares, 'success'), threeDSSessionData: 'a'.repeat(8193) })],
  ])('a decision: %s', async (_name, fieldsOf) => {
    const ares = await challenged();
    const action = `${one.base}/acs/v2/challenge/${String(ares['acsTransID'])}/decision`;
    expectErrorPage(await post(action, fieldsOf(ares)), 400);
    expect((await keptOf(ares)).state).toBe('challenged');
    expect(resultsOf(ares)).toEqual([]);
    // The unchanged form is accepted.
    expect((await post(action, decisionFields(ares, 'success'))).status).toBe(307);
  });

  it.each<[string, number, (creq: string) => string, Record<string, string>]>([
    ['a field twice', 400, (creq) => `creq=${creq}&creq=${creq}`, {}],
    ['a field twice, in another spelling', 400, (creq) => `creq=${creq}&%63req=${creq}`, {}],
    ['a broken escape', 400, (creq) => `creq=${creq}&a=%zz`, {}],
    ['an escape that is no UTF-8', 400, (creq) => `creq=${creq}&a=%ff`, {}],
    ['bytes that are not encoded', 400, (creq) => `creq=${creq}&a=ä`, {}],
    ['JSON', 415, (creq) => JSON.stringify({ creq }), { 'content-type': 'application/json' }],
    ['a form in parts', 415, (creq) => `creq=${creq}`, { 'content-type': 'multipart/form-data; boundary=a' }],
    ['64 KiB and one byte', 413, (creq) => `creq=${creq}&a=`.padEnd(64 * 1024 + 1, 'a'), {}],
  ])('a body: %s', async (_name, code, bodyOf, headers) => {
    const ares = await challenged();
    expectErrorPage(await post(`${one.base}/acs/v2/challenge`, bodyOf(challengeRequest(ares)), headers), code);
  });

  it.each<[string, (creq: string) => string, Record<string, string>]>([
    ['64 KiB', (creq) => `creq=${creq}&a=`.padEnd(64 * 1024, 'a'), {}],
    ['a charset', (creq) => `creq=${creq}`, { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }],
    ['no session data, other fields, and an empty pair', (creq) => `&a+b=%C3%A4&creq=${creq}&c`, {}],
  ])('but not a body with %s', async (_name, bodyOf, headers) => {
    const body = bodyOf(challengeRequest(await challenged()));
    expect((await post(`${one.base}/acs/v2/challenge`, body, headers)).status).toBe(200);
  });
});

describe('a result that the 3DS server does not take', () => {
  const garbage: Reaction = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>502</h1>');
  const hangUp: Reaction = (response) => response.destroy();
  const otherIds: Reaction = (response, message) =>
    status(200, { ...resultResponse(message), dsTransID: randomUUID() })(response, message);
  const notTaken: Reaction = (response, message) =>
    status(200, { ...resultResponse(message), resultsStatus: '02' })(response, message);
  const redirect: Reaction = (response) => response.writeHead(307, { location: '/results' }).end();

  async function decidedAgainst(...reactions: Reaction[]): Promise<Json> {
    const ares = await challenged();
    server.react(transactionOf(ares), ...reactions);
    const after = await press(await one.open(ares), 'success');
    // The browser goes on anyway.
    expect([after.status, after.location]).toEqual([307, `${server.url}/notification`]);
    return ares;
  }

  async function untilTried(ares: Json, attempts: number): Promise<void> {
    await until(`attempt ${attempts}`, async () => (await deliveryOf(ares))['attempts'] === attempts);
  }

  it('is sent again, the same bytes, until it is taken', async () => {
    const ares = await decidedAgainst(status(500), garbage, hangUp, otherIds);
    for (const [tried, delayMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await untilTried(ares, tried + 1);
      expect((await deliveryOf(ares))['state']).toBe('due');
      aheadMs += delayMs;
    }
    await untilTried(ares, 5);
    expect(await deliveryOf(ares)).toEqual({ state: 'taken', attempts: 5 });
    expect(server.results(transactionOf(ares))).toHaveLength(5);
    expect(new Set(server.results(transactionOf(ares))).size).toBe(1);
  });

  it('is given up after five attempts', async () => {
    const ares = await decidedAgainst(notTaken, redirect, status(503), status(500), garbage);
    for (let tried = 1; tried < 5; tried++) {
      await untilTried(ares, tried);
      aheadMs += 8_000;
    }
    await until('the end', async () => (await deliveryOf(ares))['state'] === 'given-up');
    aheadMs += 60_000;
    // A later result has been sent, so the sweep has run and left this one alone.
    const later = await decidedAgainst(status(500));
    aheadMs += 1_000;
    await untilTried(later, 2);
    expect(server.results(transactionOf(ares))).toHaveLength(5);
  });

  it.each([400, 401, 404, 409])('is not sent again when it is refused with %i', async (code) => {
    const ares = await decidedAgainst(status(code));
    expect(await deliveryOf(ares)).toEqual({ state: 'refused', attempts: 1 });
    aheadMs += 60_000;
    const later = await decidedAgainst(status(500));
    aheadMs += 1_000;
    await untilTried(later, 2);
    expect(server.results(transactionOf(ares))).toHaveLength(1);
  });

  it('is sent by another process when the first one died before it could', async () => {
    const ares = await challenged();
    const ids = { acsTransID: ares['acsTransID'] as string, threeDSServerTransID: transactionOf(ares) };
    const authentications = await createAuthentications(database);
    const dead = { authentications, now: () => Date.now() + aheadMs, reportResult: async () => undefined };
    await answerChallenge(dead, ids, 'failure');
    expect(resultsOf(ares)).toEqual([]);
    aheadMs += 10_000;
    await untilTried(ares, 1);
    expect(resultsOf(ares)).toEqual([expect.objectContaining({ transStatus: 'N' })]);
    expect(await deliveryOf(ares)).toEqual({ state: 'taken', attempts: 1 });
  });

  it('because it is silent, or never comes to an end, holds up nobody for more than five seconds', async () => {
    const stopping = await startSimulator(prefix);
    const client = bankClientOf(stopping);
    const dribble: Reaction = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const dribbling = setInterval(() => response.write(' '), 100);
      response.once('close', () => clearInterval(dribbling));
    };
    const silence: Reaction = () => undefined;
    const all = await Promise.all([1, 2].map(() => client.challenge(authenticationRequest(server))));
    const pages = await Promise.all(all.map((ares) => client.open(ares)));
    [silence, dribble].forEach((reaction, index) => server.react(transactionOf(all[index]!), reaction));
    const startedAt = performance.now();
    const pressed = Promise.all(pages.map((page) => press(page, 'success')));
    await until('both were sent', () => all.every((ares) => resultsOf(ares).length === 1));
    await stopping.stop();
    for (const after of await pressed) {
      expect([after.status, after.location]).toEqual([307, `${server.url}/notification`]);
    }
    for (const ares of all) expect(await deliveryOf(ares)).toMatchObject({ attempts: 1 });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});
