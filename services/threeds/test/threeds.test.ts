import { createHash, randomUUID } from 'node:crypto';
import { AuthenticateCardholder, threedsEvents } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Threeds } from '../src/app';
import type { StoredAuthentication } from '../src/application/ports';
import type { EventSeen, Fixture, Page, Play } from './threeds-fixture';
import {
  ACS_URL,
  browse,
  CHALLENGE,
  CHALLENGE_SECONDS,
  CRYPTOGRAM,
  decodedMessage,
  encodedMessage,
  formActionOf,
  formOf,
  MASTERCARD,
  MERCHANT,
  openFixture,
  PUBLIC_URL,
  RESULTS_URL,
  REDIRECT_URL,
  RETURN_HOST,
  says,
  send,
  SUCCESS,
  TERM_URL,
  VISA,
} from './threeds-fixture';

let fixture: Fixture;
let threeds: Threeds;

beforeAll(async () => {
  fixture = await openFixture('threeds');
  threeds = await fixture.start();
});
afterAll(() => fixture.close());

type Ids = Record<'threeDSServerTransId' | 'dsTransId' | 'acsTransId', string>;
type Begun = Awaited<ReturnType<Fixture['begin']>>;
type AskedCommand = Awaited<ReturnType<Fixture['newCommand']>>['command'];

const idsOf = ({ data }: Pick<Begun, 'data'>): Ids => data['ids'] as Ids;
const addressOf = ({ data }: Pick<Begun, 'data'>): string => String(data['acsUrl']);
const pathOf = (begun: Begun, rest = ''): string => new URL(addressOf(begun)).pathname + rest;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function rreq(begun: Begun, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const ids = idsOf(begun);
  return {
    messageType: 'RReq',
    messageVersion: '2.2.0',
    threeDSServerTransID: ids.threeDSServerTransId,
    dsTransID: ids.dsTransId,
    acsTransID: ids.acsTransId,
    messageCategory: '01',
    transStatus: 'Y',
    eci: '05',
    authenticationValue: CRYPTOGRAM,
    interactionCounter: '01',
    ...fields,
  };
}

/** The form that the browser posts from the ACS to the notification URL. */
function notification(begun: Begun, changes: Record<string, string> = {}) {
  const { threeDSServerTransId, acsTransId } = idsOf(begun);
  const cres = encodedMessage({
    messageType: 'CRes',
    messageVersion: '2.2.0',
    threeDSServerTransID: threeDSServerTransId,
    acsTransID: acsTransId,
    challengeCompletionInd: 'Y',
    transStatus: 'Y',
  });
  return { cres, threeDSSessionData: pathOf(begun).split('/').pop() ?? '', ...changes };
}

type Message = Record<string, unknown>;
const messageIn = ({ cres }: Record<string, string>): Message => decodedMessage(cres);
const base64Of = (message: Message): string => Buffer.from(JSON.stringify(message)).toString('base64');
const capitals = (message: Message): Message => ({
  ...message,
  threeDSServerTransID: String(message['threeDSServerTransID']).toUpperCase(),
  acsTransID: String(message['acsTransID']).toUpperCase(),
});

const comeBack = (begun: Begun, changes?: Record<string, string>): Promise<Page> =>
  browse(threeds, '/challenge/notification', notification(begun, changes));

const openingForm = (begun: Begun, changes: Record<string, string> = {}) => ({
  PaReq: String(begun.data['pareq']),
  TermUrl: TERM_URL,
  MD: begun.command.reference,
  ...changes,
});

const openByForm = (begun: Begun, changes?: Record<string, string>): Promise<Page> =>
  browse(threeds, addressOf(begun), openingForm(begun, changes));

const finish = (begun: Begun, fields?: Record<string, unknown>) => fixture.sendResult(threeds, rreq(begun, fields));

const redirectOf = ({ command }: Pick<Begun, 'command'>): string =>
  `https://shop.example/thanks?lang=en&reference=${command.reference}&transaction_unique_id=${command.transactionUniqueId}#top`;

async function lastEventOf({ command }: Pick<Begun, 'command'>, count = 2): Promise<EventSeen> {
  const events = await fixture.eventsOf(command.reference, count);
  return events[count - 1] as EventSeen;
}

function expectNowhere(page: Page, status = 400): void {
  expect(page.status).toBe(status);
  expect(page.headers.get('location')).toBeNull();
  expect(page.body).not.toContain('<form');
  expect(page.headers.get('refresh')).toBeNull();
  expect(formActionOf(page)).toBe("'none'");
}

describe('the authentication request', () => {
  test('has the fields that EMV 3-D Secure requires', async () => {
    const { areq, command, holder, data } = await fixture.begin('AUTH3D', CHALLENGE, {
      acceptedAt: Date.UTC(2027, 1, 3, 4, 5, 6),
    });
    expect(areq).toEqual({
      messageType: 'AReq',
      messageVersion: '2.2.0',
      threeDSServerTransID: (data['ids'] as Ids).threeDSServerTransId,
      threeDSServerURL: `${RESULTS_URL}/3ds/results`,
      notificationURL: `${PUBLIC_URL}/challenge/notification`,
      deviceChannel: '02',
      messageCategory: '01',
      threeDSRequestorID: MERCHANT,
      threeDSRequestorName: 'Muller & Sohne',
      threeDSRequestorURL: PUBLIC_URL,
      acctNumber: VISA,
      cardExpiryDate: '3112',
      cardholderName: holder,
      email: 'c@example.org',
      merchantName: 'Muller & Sohne',
      acquirerMerchantID: command.midReference,
      purchaseAmount: '1234',
      purchaseCurrency: '978',
      purchaseExponent: '2',
      purchaseDate: '20270203040506',
      browserIP: '192.0.2.7',
      browserJavascriptEnabled: false,
      browserAcceptHeader: 'text/html',
      browserLanguage: 'en',
      browserUserAgent: 'unknown',
    });
  });
});

describe('without a challenge', () => {
  test.each([
    [VISA, 5],
    [MASTERCARD, 2],
  ])('card %s: authenticated, eci %i, and the page of a SALE3D only redirects', async (pan, eci) => {
    const begun = await fixture.begin(
      'SALE3D',
      says({ transStatus: 'Y', eci: '09', authenticationValue: CRYPTOGRAM }),
      {},
      pan,
    );
    expect(begun.event).toMatchObject({
      type: 'CardholderAuthenticated',
      key: begun.command.paymentId,
      aggregateVersion: 1,
      data: { challenged: false, eci, authenticationValue: CRYPTOGRAM, occurredAt: fixture.clock.now },
    });
    expect(Object.keys(begun.data)).not.toEqual(expect.arrayContaining(['proofHash']));
    expect(Object.keys(begun.data)).not.toEqual(expect.arrayContaining(['pareq']));
    expect(addressOf(begun)).toMatch(/^https:\/\/threeds\.example\/challenge\/[A-Za-z0-9_-]{22,}$/);
    const page = await browse(threeds, addressOf(begun));
    expect([page.status, page.headers.get('location')]).toEqual([303, redirectOf(begun)]);
  });

  test('an AUTH3D gives its proof to the return address', async () => {
    const begun = await fixture.begin('AUTH3D', SUCCESS);
    expect(begun.event.type).toBe('CardholderAuthenticated');
    const { action, fields } = formOf(await openByForm(begun));
    expect(action).toBe(TERM_URL);
    expect(fields).toEqual({ PaRes: expect.stringMatching(/^[A-Za-z0-9_-]{40,}$/), MD: begun.command.reference });
    expect(begun.data['proofHash']).toBe(sha256(fields['PaRes'] ?? ''));
  });

  const refusals: [string, Play, number, number, string][] = [
    ['attempt', says({ transStatus: 'A', authenticationValue: CRYPTOGRAM }), 3123, 6, VISA],
    ['attempt', says({ transStatus: 'A', authenticationValue: CRYPTOGRAM }), 3123, 1, MASTERCARD],
    ['not enrolled', says({ transStatus: 'N', transStatusReason: '08' }), 3123, 6, VISA],
    ['not enrolled', says({ transStatus: 'N', transStatusReason: '08' }), 3123, 1, MASTERCARD],
    ['not authenticated', says({ transStatus: 'N', transStatusReason: '01' }), 3103, 7, VISA],
    ['rejected', says({ transStatus: 'R' }), 3103, 7, MASTERCARD],
    ['not possible', says({ transStatus: 'U' }), 3103, 7, VISA],
    ['success without a cryptogram', says({ transStatus: 'Y' }), 3103, 7, VISA],
    ['success with no real cryptogram', says({ transStatus: 'Y', authenticationValue: 'AAAA' }), 3103, 7, VISA],
    ['challenge without a page', says({ transStatus: 'C' }), 3103, 7, VISA],
    ['challenge on a page that is none', says({ transStatus: 'C', acsURL: 'javascript:alert(1)' }), 3103, 7, VISA],
    ['error message', (_, response) => send(response, 400, { messageType: 'Erro', errorCode: '203' }), 3103, 7, VISA],
    ['503', (_, response) => send(response, 503, ''), 3103, 7, VISA],
    ['an answer of status 500', says({ transStatus: 'Y', authenticationValue: CRYPTOGRAM }, 500), 3103, 7, VISA],
    ['garbage', (_, response) => send(response, 200, '<html>'), 3103, 7, VISA],
    [
      'another transaction',
      says({ transStatus: 'Y', authenticationValue: CRYPTOGRAM, threeDSServerTransID: randomUUID() }),
      3103,
      7,
      VISA,
    ],
    [
      'another version',
      says({ transStatus: 'Y', authenticationValue: CRYPTOGRAM, messageVersion: '2.1.0' }),
      3103,
      7,
      VISA,
    ],
    ['no ids', says({ transStatus: 'Y', authenticationValue: CRYPTOGRAM, dsTransID: undefined }), 3103, 7, VISA],
    ['an unknown status', says({ transStatus: 'X', authenticationValue: CRYPTOGRAM }), 3103, 7, VISA],
    ['a dropped connection', (_, response) => response.destroy(), 3103, 7, VISA],
    ['silence', () => undefined, 3103, 7, VISA],
    ['an answer that trickles', trickle, 3103, 7, VISA],
  ];
  test.each(refusals)('%s: refused', async (_what, play, code, eci, pan) => {
    const begun = await fixture.begin('SALE3D', play, {}, pan);
    expect(begun.event).toMatchObject({ type: 'AuthenticationRefused', data: { challenged: false, code, eci } });
    expect(begun.data).not.toHaveProperty('proofHash');
    expect(idsOf(begun).threeDSServerTransId).toBe(begun.areq?.['threeDSServerTransID']);
  });

  test('a refused AUTH3D has no page and no proof', async () => {
    const { event, data } = await fixture.begin('AUTH3D', says({ transStatus: 'R' }));
    expect(event.type).toBe('AuthenticationRefused');
    expect(data).not.toHaveProperty('proofHash');
  });

  test('a card unknown to the vault is refused', async () => {
    const { event, areq } = await fixture.begin('SALE3D', SUCCESS, { token: randomUUID() });
    expect(event).toMatchObject({ type: 'AuthenticationRefused', data: { code: 3002, challenged: false } });
    expect(areq).toBeUndefined();
  });

  test('the directory server is not asked after the deadline', async () => {
    const { event, areq } = await fixture.begin('SALE3D', SUCCESS, { deadline: fixture.clock.now - 1 });
    expect(event).toMatchObject({ type: 'AuthenticationRefused', data: { code: 11, challenged: false } });
    expect(areq).toBeUndefined();
  });

  test('a late answer starts nothing', async () => {
    const late: Play = (request, response) => {
      fixture.clock.now += 30_001;
      CHALLENGE(request, response);
    };
    const { event } = await fixture.begin('SALE3D', late);
    expect(event).toMatchObject({ type: 'AuthenticationRefused', data: { code: 11 } });
  });
});

function trickle(_request: unknown, response: Parameters<Play>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.once('close', () => clearInterval(timer));
}

describe('the challenge of a SALE3D', () => {
  test('goes to the ACS, waits for the result, and ends at the merchant', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    expect(begun.event.type).toBe('ChallengeRequired');
    expect(begun.data).not.toHaveProperty('pareq');

    const page = await browse(threeds, addressOf(begun));
    const { action, fields } = formOf(page);
    expect(action).toBe(ACS_URL);
    expect(decodedMessage(fields['creq'])).toEqual({
      messageType: 'CReq',
      messageVersion: '2.2.0',
      threeDSServerTransID: idsOf(begun).threeDSServerTransId,
      acsTransID: idsOf(begun).acsTransId,
      challengeWindowSize: '05',
    });
    expect(formActionOf(page)).toBe('https://acs.bank.example https:');
    expect(page.body).toContain('•••• 1003');
    expect(page.body).toContain('12.34 EUR');
    expect(page.body).toContain('Müller &amp; Söhne');
    expect(page.body).toContain('<button type="submit">');
    expect(page.body).not.toContain(VISA.slice(0, 12));
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('set-cookie')).toBeNull();
    expect(page.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);

    const early = await comeBack(begun, { threeDSSessionData: fields['threeDSSessionData'] ?? '' });
    expect([early.status, early.headers.get('location')]).toEqual([303, `${addressOf(begun)}/result`]);
    const waiting = await browse(threeds, `${addressOf(begun)}/result`);
    expect(waiting.status).toBe(200);
    expect(waiting.headers.get('refresh')).toBe(`2; url=${pathOf(begun, '/result')}`);
    const staying = await browse(threeds, `${addressOf(begun)}/result?stay`);
    expect([staying.status, staying.headers.get('refresh')]).toEqual([200, null]);

    expect(await finish(begun)).toEqual({
      status: 200,
      body: {
        messageType: 'RRes',
        messageVersion: '2.2.0',
        threeDSServerTransID: idsOf(begun).threeDSServerTransId,
        dsTransID: idsOf(begun).dsTransId,
        acsTransID: idsOf(begun).acsTransId,
        resultsStatus: '01',
      },
    });
    const event = await lastEventOf(begun);
    expect(event).toMatchObject({
      type: 'CardholderAuthenticated',
      correlationId: begun.event.correlationId,
      aggregateVersion: 2,
      data: { challenged: true, eci: 5, authenticationValue: CRYPTOGRAM, ids: idsOf(begun), acsUrl: addressOf(begun) },
    });
    for (const look of [
      () => browse(threeds, addressOf(begun)),
      () => browse(threeds, addressOf(begun), {}),
      () => browse(threeds, `${addressOf(begun)}/result`),
      () => comeBack(begun),
      () => comeBack(begun),
    ]) {
      const end = await look();
      expect([end.status, end.headers.get('location')]).toEqual([303, redirectOf(begun)]);
    }
  });

  test.each<[string, Record<string, unknown>, number, number | undefined, string]>([
    ['not authenticated', { transStatus: 'N' }, 3103, 7, VISA],
    ['not possible', { transStatus: 'U' }, 3103, 7, VISA],
    ['rejected', { transStatus: 'R' }, 3103, 7, VISA],
    ['an attempt', { transStatus: 'A' }, 3123, 6, VISA],
    ['an attempt', { transStatus: 'A' }, 3123, 1, MASTERCARD],
    ['cancelled by the cardholder', { transStatus: 'N', challengeCancel: '01' }, 3023, undefined, VISA],
    ['timed out at the ACS', { transStatus: 'N', challengeCancel: '04' }, 3103, 7, VISA],
    ['success without a cryptogram', { authenticationValue: undefined }, 3103, 7, VISA],
  ])('%s', async (_what, fields, code, eci, pan) => {
    const begun = await fixture.begin('SALE3D', CHALLENGE, {}, pan);
    expect((await finish(begun, fields)).status).toBe(200);
    const { type, data } = await lastEventOf(begun);
    expect({ type, data }).toEqual({
      type: 'AuthenticationRefused',
      data: {
        paymentId: begun.command.paymentId,
        reference: begun.command.reference,
        merchantAccount: MERCHANT,
        transactionType: 'SALE3D',
        occurredAt: fixture.clock.now,
        ids: idsOf(begun),
        challenged: true,
        code,
        ...(eci === undefined ? {} : { eci }),
      },
    });
  });

  test('the browser’s claim about the outcome is ignored', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    await comeBack(begun);
    expect((await fixture.stored(begun.command.reference)).state.kind).toBe('challenge');
    await finish(begun, { transStatus: 'N' });
    const back = await comeBack(begun);
    expect(back.headers.get('location')).toBe(redirectOf(begun));
    expect((await lastEventOf(begun)).type).toBe('AuthenticationRefused');
  });

  test('another payment’s data shows a plain error page', async () => {
    const [one, other] = [await fixture.begin('SALE3D', CHALLENGE), await fixture.begin('SALE3D', CHALLENGE)];
    expectNowhere(await comeBack(one, { threeDSSessionData: notification(other).threeDSSessionData }));
    expectNowhere(await comeBack(one, { cres: notification(other).cres }));
    const mixed = { ...decodedMessage(notification(one).cres), acsTransID: idsOf(other).acsTransId };
    expectNowhere(await comeBack(one, { cres: encodedMessage(mixed) }));
    expectNowhere(await comeBack(one, { cres: '', threeDSSessionData: 'x' }));
    expectNowhere(await comeBack(one, { cres: 'bm8ganNvbg', threeDSSessionData: '' }));
    const half = { ...decodedMessage(notification(one).cres), acsTransID: undefined };
    expectNowhere(await comeBack(one, { cres: encodedMessage(half), threeDSSessionData: '' }));
    const twice = `${new URLSearchParams(notification(one)).toString()}&cres=x`;
    expectNowhere(await browse(threeds, '/challenge/notification', twice));
    await finish(one);
    expectNowhere(await comeBack(one, { threeDSSessionData: notification(other).threeDSSessionData }));
  });

  /** Challenge results as ACSs send them, from a form like EMVCo's. */
  const SHAPES: [string, (form: Record<string, string>) => Record<string, string>][] = [
    ['base64url with padding', ({ cres = '', ...rest }) => ({ ...rest, cres: cres + '='.repeat(-cres.length & 3) })],
    [
      'standard Base64',
      (form) => ({ ...form, cres: base64Of({ ...messageIn(form), messageExtension: [{ data: '??>>~~ÿ' }] }) }),
    ],
    [
      'standard Base64 in lines',
      (form) => ({ ...form, cres: base64Of(messageIn(form)).replace(/.{76}/g, (line) => `${line}\r\n`) }),
    ],
    ['version 2.1.0', (form) => ({ ...form, cres: encodedMessage({ ...messageIn(form), messageVersion: '2.1.0' }) })],
    ['version 2.3.1', (form) => ({ ...form, cres: encodedMessage({ ...messageIn(form), messageVersion: '2.3.1' }) })],
    ['no session data', ({ cres = '' }) => ({ cres })],
    ['session data that it changed', (form) => ({ ...form, threeDSSessionData: 'x' })],
    ['session data that it padded', (form) => ({ ...form, threeDSSessionData: `${form['threeDSSessionData']}==\n` })],
    ['ids in capitals', (form) => ({ ...form, cres: encodedMessage(capitals(messageIn(form))) })],
    ['an error message', (form) => ({ ...form, cres: encodedMessage({ ...messageIn(form), messageType: 'Erro' }) })],
    ['nothing that can be read', (form) => ({ ...form, cres: 'bm8ganNvbg' })],
    ['more than is read', (form) => ({ ...form, cres: 'A'.repeat(60_000) })],
    ['no result', (form) => ({ threeDSSessionData: form['threeDSSessionData'] ?? '' })],
  ];

  test.each(SHAPES)(
    'a challenge result of an ACS leads on, without a say in the outcome: %s',
    async (_what, shaped) => {
      const begun = await fixture.begin('SALE3D', CHALLENGE);
      const post = () => browse(threeds, '/challenge/notification', shaped(notification(begun)));
      const { state: before } = await fixture.stored(begun.command.reference);
      const early = await post();
      expect([early.status, early.headers.get('location')]).toEqual([303, `${addressOf(begun)}/result`]);
      expect((await fixture.stored(begun.command.reference)).state).toEqual(before);
      await finish(begun, { transStatus: 'N' });
      const back = await post();
      expect([back.status, back.headers.get('location')]).toEqual([303, redirectOf(begun)]);
      expect((await fixture.stored(begun.command.reference)).state).toMatchObject({ kind: 'refused', code: 3103 });
    },
  );
});

describe('the challenge of an AUTH3D', () => {
  test('is opened by the merchant’s form and gives the proof to its return address', async () => {
    const begun = await fixture.begin('AUTH3D', CHALLENGE, {}, MASTERCARD);
    expect(begun.data['pareq']).toMatch(/^[A-Za-z0-9_-]{40,}$/);
    const opened = await openByForm(begun);
    expect(formOf(opened).action).toBe(ACS_URL);
    expect((await openByForm(begun)).body).toBe(opened.body);

    const early = await comeBack(begun);
    expect(early.headers.get('location')).toBe(`${addressOf(begun)}/result`);
    await finish(begun);
    const back = await comeBack(begun);
    const { action, fields } = formOf(back);
    expect(action).toBe(TERM_URL);
    expect(fields['MD']).toBe(begun.command.reference);
    expect(formActionOf(back)).toBe('https:');
    const { data } = await lastEventOf(begun);
    expect(data).toMatchObject({ challenged: true, eci: 2, pareq: begun.data['pareq'] });
    expect((data as { proofHash?: string }).proofHash).toBe(sha256(fields['PaRes'] ?? ''));
    expect(fields['PaRes']).not.toBe(begun.data['pareq']);
    const again = [
      await comeBack(begun),
      await browse(threeds, `${addressOf(begun)}/result`),
      await openByForm(begun),
    ].map((page) => page.body);
    expect(again).toEqual([back.body, back.body, back.body]);
  });

  test('a refused one also gives a proof, of the stored refusal', async () => {
    const begun = await fixture.begin('AUTH3D', CHALLENGE);
    await openByForm(begun);
    await finish(begun, { transStatus: 'N' });
    const { fields } = formOf(await comeBack(begun));
    expect((await lastEventOf(begun)).data).toMatchObject({ code: 3103, proofHash: sha256(fields['PaRes'] ?? '') });
  });

  test('is not opened by its address alone', async () => {
    const begun = await fixture.begin('AUTH3D', CHALLENGE);
    expectNowhere(await browse(threeds, addressOf(begun)));
    await finish(begun);
    expectNowhere(await browse(threeds, addressOf(begun)));
    expectNowhere(await browse(threeds, `${addressOf(begun)}/result`));
    expectNowhere(await comeBack(begun));
  });

  test('is opened by its own handle and reference only', async () => {
    const [begun, other] = [await fixture.begin('AUTH3D', CHALLENGE), await fixture.begin('AUTH3D', CHALLENGE)];
    expectNowhere(await openByForm(begun, { PaReq: String(other.data['pareq']) }));
    expectNowhere(await openByForm(begun, { PaReq: '' }));
    expectNowhere(await openByForm(begun, { MD: other.command.reference }));
    expectNowhere(await browse(threeds, addressOf(begun), {}));
    const twice = `${new URLSearchParams(openingForm(begun)).toString()}&TermUrl=https://evil.example`;
    expectNowhere(await browse(threeds, addressOf(begun), twice));
    expect(await fixture.stored(begun.command.reference)).not.toHaveProperty('returnUrl');
  });

  test.each([
    'https://evil.example/',
    `https://sub.${RETURN_HOST}/`,
    `https://${RETURN_HOST}.evil.example/`,
    `https://${RETURN_HOST}@evil.example/`,
    `https://user:pass@${RETURN_HOST}/`,
    `https://evil.example#@${RETURN_HOST}/`,
    `https://evil.example\\@${RETURN_HOST}/`,
    `https:\\\\${RETURN_HOST}\\`,
    `https://evil.example/${RETURN_HOST}`,
    `http://${RETURN_HOST}/`,
    `//${RETURN_HOST}/`,
    'javascript:alert(1)',
    'data:text/html,x',
    '/relative',
    '',
    `${REDIRECT_URL}x`,
    ` https://${RETURN_HOST}/`,
    `https://${RETURN_HOST}/a\tb`,
    `https://${RETURN_HOST}/${'a'.repeat(2048)}`,
  ])('is no open redirect: %s', async (TermUrl) => {
    const begun = await reusedChallenge();
    expectNowhere(await openByForm(begun, { TermUrl }));
    expect(await fixture.stored(begun.command.reference)).not.toHaveProperty('returnUrl');
  });

  let reused: Begun | undefined;
  /** The attempts do not change it, so they share one. */
  async function reusedChallenge(): Promise<Begun> {
    reused ??= await fixture.begin('AUTH3D', CHALLENGE);
    return reused;
  }

  test.each([
    REDIRECT_URL,
    `https://${RETURN_HOST}/`,
    `https://${RETURN_HOST}:9999/x`,
    `https://${RETURN_HOST.toUpperCase()}/x`,
    `https://${RETURN_HOST}/заказ`,
  ])('returns to %s', async (TermUrl) => {
    const begun = await fixture.begin('AUTH3D', SUCCESS);
    expect(formOf(await openByForm(begun, { TermUrl })).action).toBe(new URL(TermUrl).href);
  });

  test('hostile values are escaped', async () => {
    const TermUrl = `https://${RETURN_HOST}/?a="><script>alert(1)</script>&b='x'`;
    const page = await openByForm(await fixture.begin('AUTH3D', SUCCESS), { TermUrl });
    expect(page.status).toBe(200);
    expect(page.body).not.toContain('alert(1)</script>');
    expect(formOf(page).action).toBe(new URL(TermUrl).href);
  });
});

describe('the result message', () => {
  test('counts once, and the same one gets the same answer', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    const first = await finish(begun);
    const { version } = await fixture.stored(begun.command.reference);
    expect(await finish(begun)).toEqual(first);
    expect(await Promise.all([finish(begun), finish(begun)])).toEqual([first, first]);
    expect((await fixture.stored(begun.command.reference)).version).toBe(version);
    const other = await finish(begun, { transStatus: 'N' });
    expect(other).toMatchObject({ status: 409, body: { messageType: 'Erro', errorCode: '305', errorComponent: 'S' } });
    expect((await fixture.stored(begun.command.reference)).state.kind).toBe('authenticated');
    expect(await fixture.eventsOf(begun.command.reference, 2)).toHaveLength(2);
  });

  test('of two different ones at once, one counts', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    const answers = await Promise.all([finish(begun), finish(begun, { transStatus: 'N' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('is refused without its signature', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    for (const signature of [null, '', 'sha256=', `sha256=${'0'.repeat(64)}`, sha256('x')]) {
      const answer = await fixture.sendResult(threeds, rreq(begun), signature);
      expect(answer).toMatchObject({ status: 401, body: { messageType: 'Erro', errorCode: '303' } });
    }
    expect((await fixture.stored(begun.command.reference)).state.kind).toBe('challenge');
  });

  test.each<[string, number, (other: Begun) => Record<string, unknown>]>([
    ['an unknown transaction', 404, () => ({ threeDSServerTransID: randomUUID() })],
    ['the directory server’s id of another', 404, (other) => ({ dsTransID: idsOf(other).dsTransId })],
    ['the ACS’s id of another', 404, (other) => ({ acsTransID: idsOf(other).acsTransId })],
    ['no id', 400, () => ({ acsTransID: undefined })],
    ['no status', 400, () => ({ transStatus: undefined })],
    ['a status that is no result', 400, () => ({ transStatus: 'C' })],
    ['another version', 400, () => ({ messageVersion: '2.1.0' })],
    ['another message', 400, () => ({ messageType: 'CRes' })],
    ['a query for an id', 400, () => ({ threeDSServerTransID: { $ne: null } })],
  ])('%s is refused', async (_what, status, changes) => {
    const [begun, other] = [await fixture.begin('SALE3D', CHALLENGE), await fixture.begin('SALE3D', CHALLENGE)];
    expect(await finish(begun, changes(other))).toMatchObject({ status, body: { messageType: 'Erro' } });
    expect((await fixture.stored(begun.command.reference)).state.kind).toBe('challenge');
    expect((await fixture.stored(other.command.reference)).state.kind).toBe('challenge');
  });

  test('is refused if no challenge was started', async () => {
    const begun = await fixture.begin('SALE3D', SUCCESS);
    expect(await finish(begun)).toMatchObject({ status: 409, body: { errorCode: '305' } });
  });
});

describe('a cardholder who does not finish', () => {
  test('ends with 3024; later messages change nothing', async () => {
    const begun = await fixture.begin('AUTH3D', CHALLENGE);
    await openByForm(begun);
    fixture.clock.now += CHALLENGE_SECONDS * 1000 - 1;
    expect(formOf(await openByForm(begun)).action).toBe(ACS_URL);
    fixture.clock.now += 1;
    const expired = await lastEventOf(begun);
    const proofHash: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(expired).toMatchObject({
      type: 'AuthenticationRefused',
      correlationId: begun.event.correlationId,
      data: { code: 3024, challenged: true, proofHash, ids: idsOf(begun) },
    });
    const { version, state } = await fixture.stored(begun.command.reference);
    expect(await finish(begun)).toMatchObject({ status: 409, body: { messageType: 'Erro', errorCode: '402' } });
    expect(await fixture.stored(begun.command.reference)).toMatchObject({ version, state });
    expect(formOf(await comeBack(begun)).action).toBe(TERM_URL);
  });
});

/** Stores a request to the directory server whose answer was never stored. @param more additional fields */
async function storeUnanswered(more: (asked: AskedCommand) => Partial<StoredAuthentication> = () => ({})) {
  const { command, holder } = await fixture.newCommand('SALE3D');
  fixture.directory.plays.set(holder, CHALLENGE);
  const threeDSServerTransId = randomUUID();
  const { token: _token, customer: _customer, midReference: _mid, acceptedAt: _at, ...kept } = command;
  await fixture.authentications.insertOne({
    _id: command.reference,
    ...kept,
    pageId: randomUUID(),
    ids: { threeDSServerTransId },
    state: { kind: 'requested' },
    correlationId: 'c',
    version: 1,
    eventSeq: 0,
    outbox: [],
    ...more(command),
  });
  return { command, holder, threeDSServerTransId };
}

describe('recovery', () => {
  test('a redelivered command changes nothing but publishes the rest of the outbox', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    const { _id, pageId } = await fixture.stored(begun.command.reference);
    const entry = { id: randomUUID(), seq: 2, type: 'ChallengeRequired', data: begun.data, at: fixture.clock.now };
    await until('the outbox is drained', async () => (await fixture.stored(_id)).outbox.length === 0);
    // The state after a crash between commit and publication.
    await fixture.authentications.updateOne(
      { _id },
      { $set: { outbox: [{ ...entry, correlationId: 'c' }], outboxSince: fixture.clock.now } },
    );
    await fixture.publish(begun.command);
    await fixture.eventsOf(_id, 2);
    expect(fixture.published(_id)[1]?.id).toBe(entry.id);
    expect(fixture.directory.requestsOf(begun.holder)).toHaveLength(1);
    expect((await fixture.stored(_id)).pageId).toBe(pageId);
  });

  test('any replica repeats the request of a dead process when its lease expires, without a command', async () => {
    const { command, threeDSServerTransId } = await storeUnanswered((asked) => ({
      command: { data: asked, id: randomUUID() },
      resolveAt: fixture.clock.now,
    }));
    const [event] = await fixture.eventsOf(command.reference, 1);
    expect(event).toMatchObject({ type: 'ChallengeRequired', data: { ids: { threeDSServerTransId } } });
    // The cardholder's data is deleted with the command.
    const stored = await fixture.stored(command.reference);
    expect(stored).not.toHaveProperty('command');
    expect(stored).not.toHaveProperty('resolveAt');
  });

  test('a redelivered command without a stored answer asks again under the same transaction id', async () => {
    const { command, holder, threeDSServerTransId } = await storeUnanswered();
    await fixture.publish(command);
    const [event] = await fixture.eventsOf(command.reference, 1);
    expect(event).toMatchObject({ type: 'ChallengeRequired', data: { ids: { threeDSServerTransId } } });
    expect(fixture.directory.requestsOf(holder).map((areq) => areq['threeDSServerTransID'])).toEqual([
      threeDSServerTransId,
    ]);
  });
});

test('an answer stored by another replica is not overwritten', async () => {
  const { command, holder } = await fixture.newCommand('SALE3D');
  const _id = command.reference;
  fixture.directory.plays.set(holder, (request, response) => {
    const state = { kind: 'refused', challenged: false, code: 3123, eci: 6 } as const;
    void fixture.authentications
      .updateOne({ _id }, { $set: { state, version: 2 } })
      .then(() => SUCCESS(request, response));
  });
  await fixture.publish(command);
  await until(
    'the other replica has recorded its answer',
    async () => (await fixture.authentications.findOne({ _id }))?.version === 2,
  );
  // Its answer is handled after the first one.
  const next = { ...command, reference: `${command.paymentId}ZZZZ` };
  await fixture.publish(next);
  await fixture.eventsOf(next.reference, 1);
  expect(await fixture.stored(_id)).toMatchObject({ version: 2, state: { code: 3123 } });
  expect(fixture.published(_id)).toEqual([]);
});

describe('a command that can never be processed', () => {
  const publishBroken = (data: object, key: string) =>
    fixture.publisher.publishRaw({
      topic: `${fixture.space.topicPrefix}threeds.commands.v1`,
      key: Buffer.from(key),
      value: Buffer.from(JSON.stringify(data)),
      headers: {
        ce_specversion: '1.0',
        ce_id: randomUUID(),
        ce_type: AuthenticateCardholder.type,
        ce_source: 'test',
        ce_time: new Date().toISOString(),
        ce_subject: key,
        'content-type': 'application/json',
      },
    });

  test('ends with 3000 if it names its operation; otherwise it blocks no others', async () => {
    const { command } = await fixture.newCommand('SALE3D');
    const { customer: _customer, ...broken } = command;
    const unusable = [{ reference: 'nonsense' }, { reference: `${command.paymentId}x` }, { transactionType: 'SALE' }];
    for (const fields of unusable) await publishBroken({ ...broken, ...fields }, command.paymentId);
    await publishBroken({ ...broken, reference: '0'.repeat(20) }, command.paymentId);
    await publishBroken(broken, command.paymentId);
    const [event] = await fixture.eventsOf(command.reference, 1);
    expect(event).toMatchObject({ type: 'AuthenticationRefused', data: { code: 3000, challenged: false } });
    const { paymentId } = command;
    const kept = await fixture.authentications.find({ paymentId }).toArray();
    expect(kept.map(({ _id }) => _id)).toEqual([command.reference]);
    await fixture.publish(command);
    await until('the command was looked at', async () => (await fixture.stored(command.reference)).outbox.length === 0);
    expect(fixture.published(command.reference)).toHaveLength(1);
  });

  test('a currency without a number ends with 3000', async () => {
    const { event } = await fixture.begin('SALE3D', SUCCESS, { currency: 'XXX' });
    expect(event).toMatchObject({ type: 'AuthenticationRefused', data: { code: 3000 } });
  });

  test('does not overwrite a stored answer', async () => {
    const begun = await fixture.begin('SALE3D', CHALLENGE);
    const before = await fixture.stored(begun.command.reference);
    await publishBroken({ ...begun.command, customer: 'broken' }, begun.command.paymentId);
    const next = await fixture.newCommand('SALE3D');
    const following = {
      ...next.command,
      paymentId: begun.command.paymentId,
      reference: `${begun.command.paymentId}ZZZZ`,
    };
    await fixture.publish(following);
    await fixture.eventsOf(following.reference, 1);
    expect(await fixture.stored(begun.command.reference)).toMatchObject({
      version: before.version,
      state: before.state,
    });
  });
});

describe('two replicas', () => {
  test('share the work; either one handles results and shows pages', async () => {
    const second = await fixture.start();
    const begun = await Promise.all(Array.from({ length: 8 }, () => fixture.begin('SALE3D', CHALLENGE)));
    await Promise.all(
      begun.map(async (one, index) => {
        const [here, there] = index % 2 === 0 ? [threeds, second] : [second, threeds];
        const answers = await Promise.all([fixture.sendResult(here, rreq(one)), fixture.sendResult(there, rreq(one))]);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect((await browse(there, addressOf(one))).headers.get('location')).toBe(redirectOf(one));
        expect((await fixture.eventsOf(one.command.reference, 2)).map(({ type }) => type)).toEqual([
          'ChallengeRequired',
          'CardholderAuthenticated',
        ]);
      }),
    );
    const open = await Promise.all(Array.from({ length: 8 }, () => fixture.begin('SALE3D', CHALLENGE)));
    fixture.clock.now += CHALLENGE_SECONDS * 1000;
    for (const one of open) {
      expect((await lastEventOf(one)).data).toMatchObject({ code: 3024 });
      expect(await fixture.stored(one.command.reference)).toMatchObject({ version: 3, eventSeq: 2 });
    }
  });
});

describe('the site', () => {
  test('shows a plain page for everything else', async () => {
    for (const path of [
      '/',
      '/challenge',
      '/challenge/unknown',
      '/challenge/unknown/result',
      '/Challenge/x',
      '/3ds/x',
    ]) {
      expectNowhere(await browse(threeds, path), 404);
    }
    expectNowhere(await browse(threeds, '/challenge/unknown', {}), 404);
    expectNowhere(await browse(threeds, '/challenge/%E0%A4%A'), 400);
  });

  test('a page is unknown until the first answer', async () => {
    const { command, holder } = await fixture.newCommand('SALE3D');
    let release = (): void => undefined;
    fixture.directory.plays.set(holder, (request, response) => {
      release = () => CHALLENGE(request, response);
    });
    await fixture.publish(command);
    await until('the directory server is asked', () => fixture.directory.requestsOf(holder).length > 0);
    const { pageId, ids } = await fixture.stored(command.reference);
    const page = await browse(threeds, `/challenge/${pageId}`);
    release();
    expectNowhere(page, 404);
    expect(ids).not.toHaveProperty('acsTransId');
  });

  test.each([
    ['GET', '/3ds/results', 'POST'],
    ['GET', '/challenge/notification', 'POST'],
    ['PUT', '/challenge/abc', 'GET, HEAD, POST'],
    ['POST', '/challenge/abc/result', 'GET, HEAD'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const response = await fetch(`http://127.0.0.1:${threeds.ports.http}${path}`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  test('takes 64 KiB and no more', async () => {
    const big = { PaReq: 'x'.repeat(64 * 1024) };
    expectNowhere(await browse(threeds, '/challenge/abc', big), 413);
    expectNowhere(await browse(threeds, '/challenge/abc', { PaReq: 'x'.repeat(64 * 1024 - 6) }), 404);
  });

  test('HEAD of a page has its headers', async () => {
    const begun = await fixture.begin('SALE3D', SUCCESS);
    const response = await fetch(`http://127.0.0.1:${threeds.ports.http}${pathOf(begun)}`, {
      method: 'HEAD',
      redirect: 'manual',
    });
    expect(response.headers.get('location')).toBe(redirectOf(begun));
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });
});

test('no card number, proof or customer data is stored or published', async () => {
  const begun = await fixture.begin('AUTH3D', CHALLENGE);
  const { fields } = formOf(await openAndFinish(begun));
  const kept = JSON.stringify([
    await fixture.stored(begun.command.reference),
    fixture.published(begun.command.reference),
  ]);
  expect(kept).not.toContain(VISA);
  expect(kept).not.toContain(fields['PaRes']);
  expect(kept).not.toContain(begun.holder);
  expect(kept).not.toContain('c@example.org');
});

async function openAndFinish(begun: Begun): Promise<Page> {
  await openByForm(begun);
  await finish(begun);
  return comeBack(begun);
}

test('the internal port serves metrics, and all events match their declaration', async () => {
  const metrics = await (await fetch(`http://127.0.0.1:${threeds.ports.ops}/metrics`)).text();
  expect(metrics).toMatch(/gateway_authentications_total\{outcome="challenge",service="threeds"\} [1-9]/);
  expect(metrics).toMatch(
    /gateway_outbound_call_seconds_count\{service="threeds",counterpart="directory-server",lane="cardholders",operation="authenticate",answer="answered"\} [1-9]/,
  );
  const ready = await fetch(`http://127.0.0.1:${threeds.ports.ops}/health/ready`);
  expect(ready.status).toBe(200);
  const begun = await fixture.begin('AUTH3D', SUCCESS);
  expect(threedsEvents.CardholderAuthenticated.problem(begun.data)).toBeUndefined();
});
