import { createHash } from 'node:crypto';
import { RawText } from '@gateway/contracts';
import { displayedAmount } from './amounts';
import { html, localeFor, renderPage, SUBMIT_AT_ONCE, summary } from '.';

const ENGLISH = localeFor(new RawText('en'));
const HOSTILE = `"><script>alert('1')</script>&`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;';

test('text is escaped, markup is not, undefined is empty', () => {
  expect(html`<a title="${HOSTILE}">${html`<b>${1}</b>`}${[html`x`, html`y`]}${undefined}${false}</a>`.markup).toBe(
    `<a title="${ESCAPED}"><b>1</b>xy</a>`,
  );
});

test('input of merchants and cardholders cannot become markup', () => {
  const { body } = renderPage({
    locale: ENGLISH,
    title: HOSTILE,
    body: summary(ENGLISH, { merchant: HOSTILE, amountE4: 100_000, currency: 'XTS', card: HOSTILE }),
    refresh: { seconds: 2, url: '/result', stayUrl: HOSTILE },
  });
  expect(body).not.toContain('<script>');
  expect(body.split(ESCAPED)).toHaveLength(5);
});

test('a page says in which language it is, and that another browser may get another one', () => {
  const { headers, body } = renderPage({ locale: localeFor(new RawText('de-AT')), title: 'T', body: html`b` });
  expect(headers).toMatchObject({ 'Content-Language': 'de', Vary: 'Accept-Language' });
  expect(body).toContain('<html lang="de">');
  expect(body).toContain('Sichere Zahlung');
});

test('a page that loads again by itself has a link to one that does not', () => {
  const { headers, body } = renderPage({
    locale: ENGLISH,
    title: 'T',
    body: html`b`,
    refresh: { seconds: 2, url: '/result', stayUrl: '/result?stay' },
  });
  expect(headers['Refresh']).toBe('2; url=/result');
  expect(body).toContain('<a href="/result?stay">Stop reloading this page automatically</a>');
  expect(renderPage({ locale: ENGLISH, title: 'T', body: html`b` }).headers).not.toHaveProperty('Refresh');
});

const NARROW = '\u202f';
const SPACE = '\u00a0';

test.each([
  ['en', 0, 'XTS', '0.00 XTS'],
  ['en', 100_000, 'XTS', '10.00 XTS'],
  ['en', 12_345_678, 'XTS', '1,234.5678 XTS'],
  ['en', 99_999_999_999, 'XTS', '9,999,999.9999 XTS'],
  ['en', 100_000, 'JPY', '10 JPY'],
  ['en', 15_000, 'KWD', '1.500 KWD'],
  ['de', 12_345_678, 'EUR', `1.234,5678${SPACE}EUR`],
  ['fr', 99_999_999_999, 'EUR', `9${NARROW}999${NARROW}999,9999${SPACE}EUR`],
  ['es', 12_345_000, 'EUR', `1234,50${SPACE}EUR`],
  ['it', 125_000, 'EUR', `12,50${SPACE}EUR`],
  ['nl', 12_345_000, 'EUR', `EUR${SPACE}1.234,50`],
  ['pl', 123_450_000, 'PLN', `12${SPACE}345,00${SPACE}PLN`],
  ['lt', 123_450_000, 'EUR', `12${SPACE}345,00${SPACE}EUR`],
] as const)('%s: %i of 1/10000 %s is %s', (language, amountE4, currency, shown) => {
  expect(displayedAmount(language, amountE4, currency)).toBe(shown);
});

describe('the policy', () => {
  const policyOf = (page: Partial<Parameters<typeof renderPage>[0]> = {}) => {
    const { headers, body } = renderPage({ locale: ENGLISH, title: 'T', body: html`b`, ...page });
    return { body, policy: headers['Content-Security-Policy'] ?? '' };
  };

  test("allows the page's own style, and nothing else", () => {
    const { body, policy } = policyOf();
    const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? '';
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('script-src');
    expect(body).not.toContain('<script>');
  });

  test('allows the script of the page', () => {
    const { body, policy } = policyOf({ script: SUBMIT_AT_ONCE });
    const script = /<script>([^]*)<\/script>/.exec(body)?.[1] ?? '';
    expect(script).toBe('document.forms[0].requestSubmit();');
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  });

  test('allows images only for a logo, and only inside the page', () => {
    expect(policyOf().policy).not.toContain('img-src');
    const { body, policy } = policyOf({ logo: 'iVBORw0KGgo=' });
    expect(policy).toContain('img-src data:;');
    expect(body).toContain('src="data:image/png;base64,iVBORw0KGgo="');
  });

  test('allows only the form targets of the page, each listed once', () => {
    expect(policyOf().policy).toContain("form-action 'none';");
    expect(policyOf({ formActions: ["'self'", 'https://a.example', 'https://a.example'] }).policy).toContain(
      "form-action 'self' https://a.example;",
    );
  });
});
