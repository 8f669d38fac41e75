import { RawText } from '@gateway/contracts';
import { localeFor } from '@gateway/pages';
import type { Authentication } from '../../domain/authentication';
import { challengePage, outOfTimePage, problemPage, returnPage, waitingPage } from './pages';

const ENGLISH = localeFor(undefined);
const HOSTILE = `"><script>alert('1')</script>`;
const authentication = {
  pageId: 'page',
  reference: HOSTILE,
  merchantAccount: HOSTILE,
  amountE4: 10_000,
  currency: 'XTS',
  ids: { threeDSServerTransId: HOSTILE },
} as Authentication;

const pages = {
  challenge: challengePage(ENGLISH, {
    kind: 'challenge',
    authentication,
    acsUrl: `https://acs.example/?${encodeURI(HOSTILE)}`,
    card: { scheme: 'other', lastDigits: '1003' },
  }),
  return: returnPage(ENGLISH, { kind: 'return', authentication, url: 'https://a.example/?x=%22', pares: HOSTILE }),
  wait: waitingPage(ENGLISH, { kind: 'wait', authentication }, false),
  'out of time': outOfTimePage(ENGLISH, { kind: 'out-of-time', authentication }, false),
};

test.each(Object.entries(pages))('%s: escapes input', (_name, { body }) => {
  expect(body).not.toContain("alert('1')");
  expect(body).toContain('1.00 XTS');
  expect(body).toContain('<h1>');
});

test('the page of an expired challenge says so, and continues by itself', () => {
  const { body, headers } = pages['out of time'];
  expect(body).toContain('The time has run out');
  expect(body).toContain('role="alert"');
  expect(headers['Refresh']).toBe('2; url=/challenge/page/result');
  expect(body).not.toContain('<form');
});

test('the waiting page announces itself to screen readers, and works without the refresh', () => {
  expect(pages.wait.body).toContain('role="status"');
  expect(pages.wait.body).toContain('href="/challenge/page/result"');
});

test('the waiting page stays for those who need more time', () => {
  expect(pages.wait.body).toContain('href="/challenge/page/result?stay"');
  const { headers, body } = waitingPage(ENGLISH, { kind: 'wait', authentication }, true);
  expect(headers).not.toHaveProperty('Refresh');
  expect(body).toContain('href="/challenge/page/result"');
});

test("cardholders see the merchant's display name", () => {
  const named = { ...authentication, merchantName: 'Müller & Söhne' };
  const { body } = waitingPage(localeFor(new RawText('de')), { kind: 'wait', authentication: named }, false);
  expect(body).toContain('<dd>Müller &amp; Söhne</dd>');
  expect(body).toContain('Einen Moment, bitte');
  expect(body).toContain('1,00\u00a0XTS');
});

test.each(['challenge', 'return'] as const)(
  '%s: submits itself, and has a button for browsers without scripts',
  (name) => {
    const { body, headers } = pages[name];
    expect(body).toContain('requestSubmit');
    expect(body).toContain('<button type="submit">');
    expect(headers['Content-Security-Policy']).toContain("script-src 'sha256-");
  },
);

test.each([
  ['https://acs.example/creq', 'form-action https://acs.example https:;'],
  ['http://127.0.0.1:8082/creq', 'form-action http://127.0.0.1:8082 https:;'],
])('an ACS at %s may redirect the browser to another host of its bank', (acsUrl, formAction) => {
  const card = { scheme: 'other', lastDigits: '1003' } as const;
  const { headers } = challengePage(ENGLISH, { kind: 'challenge', authentication, acsUrl, card });
  expect(headers['Content-Security-Policy']).toContain(formAction);
});

test('a return address may redirect the browser to another host of its shop', () => {
  expect(pages.return.headers['Content-Security-Policy']).toContain('form-action https:;');
});

test('the page of a problem has no form', () => {
  const { status, body, headers } = problemPage(ENGLISH, 'wrong-return-address');
  expect(status).toBe(400);
  expect(body).not.toContain('<form');
  expect(headers['Content-Security-Policy']).toContain("form-action 'none'");
});
