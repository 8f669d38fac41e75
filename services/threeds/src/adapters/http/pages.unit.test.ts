import type { Authentication } from '../../domain/authentication';
import { challengePage, outOfTimePage, problemPage, returnPage, waitingPage } from './pages';

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
  challenge: challengePage({
    kind: 'challenge',
    authentication,
    acsUrl: `https://acs.example/?${encodeURI(HOSTILE)}`,
    card: { scheme: 'other', lastDigits: '1003' },
  }),
  return: returnPage({ kind: 'return', authentication, url: 'https://a.example/?x=%22', pares: HOSTILE }),
  wait: waitingPage({ kind: 'wait', authentication }),
  'out of time': outOfTimePage({ kind: 'out-of-time', authentication }),
};

test.each(Object.entries(pages))('%s: escapes input', (_name, { body }) => {
  expect(body).not.toContain("alert('1')");
  expect(body).toContain('1.00 XTS');
  expect(body).toContain('<h1>');
});

test('the page of an expired challenge says so, and continues by itself', () => {
  const { body } = pages['out of time'];
  expect(body).toContain('The time has run out');
  expect(body).toContain('role="alert"');
  expect(body).toContain('content="2; url=/challenge/page/result"');
  expect(body).not.toContain('<form');
});

test('the waiting page announces itself to screen readers, and works without the refresh', () => {
  expect(pages.wait.body).toContain('role="status"');
  expect(pages.wait.body).toContain('href="/challenge/page/result"');
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

test('the page of a problem has no form', () => {
  const { status, body, headers } = problemPage('wrong-return-address');
  expect(status).toBe(400);
  expect(body).not.toContain('<form');
  expect(headers['Content-Security-Policy']).toContain("form-action 'none'");
});
