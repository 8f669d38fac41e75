import { RESPONSE_CODES } from '@gateway/contracts';
import { FORM_TYPE, formOf } from '../../support/http';
import type { Body } from '../../support/system';
import { CARD_PATH, cardRequest, CREDENTIALS, pageRequest } from '../../support/system';
import { talk } from '../talk';
import type { World } from '../world';
import { SERVICE_NAMES } from '../world';

const MARK = 'forged';
const FORGED_LINE = `{"message":"${MARK}"}`;

/**
 * Texts that mean something to logs, terminals, headers, markup and queries. Most are short enough for an account's
 * name, which is logged before anyone knows the account.
 */
const TEXTS: readonly [what: string, text: string][] = [
  ['a line break and a log line', `Ann\n${FORGED_LINE}`],
  ['a carriage return and a log line', `Ann\r\n${FORGED_LINE}\r\n`],
  ['a line separator of Unicode', `Ann\u2028${FORGED_LINE}`],
  ['a paragraph separator of Unicode', `Ann\u2029${FORGED_LINE}`],
  ['a next line of Unicode', `Ann\u0085${FORGED_LINE}`],
  ['a header', 'Ann\r\nSet-Cookie: session=1'],
  ['terminal control', '\u001b[2J\u001b[31mAnn\u001b]0;x\u0007'],
  ['C1 control', '\u009b31mAnn Lee'],
  ['NUL', 'Ann\u0000Lee'],
  ['backspaces', 'Ann\b\b\bBob'],
  ['a direction mark', 'Ann\u202eeeL nnA'],
  ['an isolated direction', 'Ann\u2066eeL nnA'],
  ['markup', '<script>alert(1)</script>'],
  ['a query', '{"$where":"sleep(1000)"}'],
  ['a format', '%s%s%s%n${jndi:ldap://127.0.0.2/a}'],
  ['60,000 characters', 'A'.repeat(60_000)],
];

const TEXT_FIELDS = [
  'merchant_account',
  'transaction_type',
  'transaction_unique_id',
  'first_name',
  'address',
  'user_email',
  'merchant_user_id',
  'descriptor_merchant',
  'custom_note',
  'mid_reference',
  'token',
  'reference',
  'pares',
];

/** Node's client refuses some headers. */
function requestWith(header: string): string {
  const body = JSON.stringify({ ...CREDENTIALS, ...cardRequest('SALE') });
  const head = [`POST ${CARD_PATH} HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Type: application/json'];
  return [...head, header, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

const HEADERS = [
  'user-agent',
  'referer',
  'x-forwarded-for',
  'x-request-id',
  'traceparent',
  'idempotency-key',
  'cookie',
];

/** Text that becomes part of headers, log lines or pages. */
export function attackHeadersAndLogs(world: () => World): void {
  test.each(TEXTS)('%s, in every field that takes text', async (_what, text) => {
    // Sources of their own: wrong credentials would get one throttled.
    const answers = await Promise.all(
      TEXT_FIELDS.flatMap((field, index) => {
        const fields: Body = { ...CREDENTIALS, ...cardRequest('SALE'), [field]: text };
        const headers = { 'x-forwarded-for': `198.18.0.${index}` };
        return [
          world().exchange(world().ports.PORT, { body: JSON.stringify(fields), headers }),
          world().exchange(world().ports.PORT, { body: formOf(fields), headers: { ...FORM_TYPE, ...headers } }),
        ];
      }),
    );
    for (const { status, headers, text: body } of answers) {
      expect(status).toBe(200);
      expect(JSON.parse(body)).not.toMatchObject({ code: RESPONSE_CODES.INTERNAL_ERROR });
      expect(headers).not.toHaveProperty('set-cookie');
    }
  });

  test('in headers that Node lets through', async () => {
    const printable = ['\u001b[31m', '"}\\n{"message":"x', `${MARK}"`, '\u00e9'.repeat(20), '\t', 'A'.repeat(8_000)];
    for (const value of printable) {
      for (const name of HEADERS) {
        const received = await talk(world().ports.PORT, requestWith(`${name}: ${value}`));
        expect([name, value, /^HTTP\/1\.1 (200|400) /.test(received)]).toEqual([name, value, true]);
        expect(received).not.toContain(MARK);
      }
    }
  });

  test('in addresses that browsers are sent to', async () => {
    const redirects = [
      'https://shop.example/%0d%0aSet-Cookie:a=b',
      'https://shop.example/"><script>',
      "https://shop.example/?'<b>",
    ];
    for (const redirect_url of redirects) {
      const opened = await world().send(pageRequest('SALE', { redirect_url }), '/api/pf/checkout');
      const path = new URL(String(opened['checkout_url'])).pathname;
      const typed = {
        attempt: '1',
        card_number: '4111111111111111',
        card_exp: '12/30',
        cvv: '123',
        card_holder: 'Ann Lee',
      };
      const form = await world().exchange(world().ports.PORT, { method: 'GET', path });
      // The page's own script has a policy of its own.
      expect(form.text.match(/<script/g)).toHaveLength(1);
      expect(form.text).not.toContain('<b>');
      const paid = await world().exchange(world().ports.PORT, { path, headers: FORM_TYPE, body: formOf(typed) });
      expect(paid.status).toBe(303);
      expect(paid.headers.location).toMatch(/^https:\/\/shop\.example\/[\x21-\x7e]*$/);
      expect(paid.headers).not.toHaveProperty('set-cookie');
    }
  });

  test('the logs of all services are lines of JSON, each of its service, and none is forged', () => {
    for (const name of SERVICE_NAMES) {
      const lines = (world().services.get(name)?.output() ?? '').split('\n').slice(0, -1);
      expect([name, lines.length > 0]).toEqual([name, true]);
      const broken = lines.filter((line) => !isOwnLine(line, name));
      expect([name, broken]).toEqual([name, []]);
    }
  });

  function isOwnLine(line: string, service: string): boolean {
    if (/[\p{Cc}\p{Bidi_C}\u2028\u2029]/u.test(line)) return false;
    try {
      const fields = JSON.parse(line) as Body;
      return fields['service'] === service && fields['message'] !== MARK;
    } catch {
      return false;
    }
  }
}
