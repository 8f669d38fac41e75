import { createHash } from 'node:crypto';
import { displayedAmount, html, renderPage, summary } from '.';

const HOSTILE = `"><script>alert('1')</script>&`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;';

test('text is escaped, markup is not, undefined is empty', () => {
  expect(html`<a title="${HOSTILE}">${html`<b>${1}</b>`}${[html`x`, html`y`]}${undefined}${false}</a>`.markup).toBe(
    `<a title="${ESCAPED}"><b>1</b>xy</a>`,
  );
});

test('input of merchants and cardholders cannot become markup', () => {
  const { body } = renderPage({
    title: HOSTILE,
    body: summary({ merchant: HOSTILE, amountE4: 100_000, currency: 'XTS', card: HOSTILE }),
    refresh: { seconds: 2, url: HOSTILE },
  });
  expect(body).not.toContain('<script>');
  expect(body.split(ESCAPED)).toHaveLength(5);
});

test.each([
  [0, '0.00 XTS'],
  [100_000, '10.00 XTS'],
  [12_345_678, '1,234.5678 XTS'],
  [99_999_999_999, '9,999,999.9999 XTS'],
])('%i is shown as %s', (amountE4, shown) => {
  expect(displayedAmount(amountE4, 'XTS')).toBe(shown);
});

describe('the policy', () => {
  const policyOf = (page: Partial<Parameters<typeof renderPage>[0]> = {}) => {
    const { headers, body } = renderPage({ title: 'T', body: html`b`, ...page });
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

  test('allows the script of a page that submits itself', () => {
    const { body, policy } = policyOf({ sendsItself: true });
    const script = /<script>([^]*)<\/script>/.exec(body)?.[1] ?? '';
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  });

  test('allows only the form targets of the page, each listed once', () => {
    expect(policyOf().policy).toContain("form-action 'none';");
    expect(policyOf({ formActions: ["'self'", 'https://a.example', 'https://a.example'] }).policy).toContain(
      "form-action 'self' https://a.example;",
    );
  });
});
