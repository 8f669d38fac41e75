import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { EdgeFixture, Response } from './edge-fixture';
import { CREDENTIALS, ORIGIN, startEdgeFixture } from './edge-fixture';

const PAN = TEST_CARDS.challenged.visa;
const CVV = '0739';
const REDIRECT = 'https://shop.example/done?basket=7';
const CALLBACK = 'https://shop.example/callback';
const ACS = 'http://127.0.0.1:8081/challenge/abc';

let edge: EdgeFixture;
beforeAll(async () => (edge = await startEdgeFixture('edge-checkout')));
afterAll(async () => edge.close());

let count = 0;
const newId = (): string => `checkout-${(count += 1)}-${Date.now()}`;
const checkoutFields = (type = 'SALE', more: object = {}) => ({
  transaction_type: type,
  transaction_unique_id: newId(),
  amount: '12.50',
  currency: 'XTS',
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_email: 'ann.unlike.any@example.com',
  user_ip: '192.0.2.1',
  callback_url: CALLBACK,
  redirect_url: REDIRECT,
  ...more,
});

interface Opened {
  path: string;
  id: string;
}

async function open(type = 'SALE', more: object = {}): Promise<Opened> {
  const answer = await edge.merchant('/api/pf/checkout', checkoutFields(type, more));
  if (answer['status'] !== 'success') throw new Error(JSON.stringify(answer));
  return { path: new URL(String(answer['checkout_url'])).pathname, id: String(answer['transaction_unique_id']) };
}

const TYPED = {
  attempt: '1',
  card_number: '4012 0003 0000 1003',
  card_exp: '09 / 30',
  cvv: CVV,
  card_holder: 'Ann Lee',
};
const typed = (more: Record<string, string> = {}): string => new URLSearchParams({ ...TYPED, ...more }).toString();
const pay = (path: string, more: Record<string, string> = {}): Promise<Response> =>
  edge.request('POST', path, typed(more));
const look = (path: string): Promise<Response> => edge.request('GET', path);

async function check(fields: object): Promise<{ code: unknown; transactions: Record<string, unknown>[] }> {
  const { code, transactions } = await edge.merchant('/api/pf/host-to-host', { transaction_type: 'CHECK', ...fields });
  return { code, transactions: transactions as Record<string, unknown>[] };
}

const lastCommand = () => {
  const command = edge.owner.commands.at(-1);
  if (command === undefined) throw new Error('no command was sent');
  return command;
};
const back = (reference: string, id: string): string =>
  `${REDIRECT}&reference=${reference}&transaction_unique_id=${id}`;

describe('the request', () => {
  test('is answered with a page for half an hour', async () => {
    const fields = checkoutFields();
    const answer = await edge.merchant('/api/pf/checkout', fields);
    expect(answer).toEqual({
      api_version: 1,
      merchant_account: 'demo_merchant',
      sessionid: expect.any(String),
      transaction_unique_id: fields.transaction_unique_id,
      timestamp: expect.any(Number),
      authcode: null,
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
      checkout_url: expect.stringMatching(/^https:\/\/pay\.example\/checkout\/[\w-]{22}$/),
      expires_at: Number(answer['timestamp']) + 1800,
    });
  });

  test('can be a form', async () => {
    const body = new URLSearchParams({
      api_version: '1',
      merchant_account: 'demo_merchant',
      merchant_password: 'demo_password',
      ...checkoutFields(),
    }).toString();
    const { text } = await edge.request('POST', '/api/pf/checkout', body);
    expect(JSON.parse(text)).toMatchObject({ code: 0, checkout_url: expect.any(String) });
  });

  test.each([
    ['AUTH3D', 1004],
    ['REFUND', 1004],
    ['CHECK', 1004],
    ['NONSENSE', 1004],
    ['', 1002],
  ])('for a %j is answered with %i', async (type, code) => {
    const answer = await edge.merchant('/api/pf/checkout', checkoutFields(type));
    expect(answer).toMatchObject({ status: 'error', code, errors: [{ field: 'transaction_type' }] });
  });

  test('counts against the limits of the account', async () => {
    const of = async (more: object) => (await edge.merchant('/api/pf/checkout', checkoutFields('SALE', more)))['code'];
    expect(await of({ merchant_password: 'wrong_password' })).toBe(2001);
    expect(await of({ currency: 'EUR' })).toBe(2009);
    expect(await of({ amount: '0' })).toBe(3022);
    expect(await of({ card_number: PAN })).toBe(1006);
    expect(await of({ redirect_url: '' })).toBe(1002);
    expect(await of({ redirect_url: 'http://shop.example/' })).toBe(1004);
  });

  test('with an id that is in use is refused, whatever request used it', async () => {
    const { id } = await open();
    const again = await edge.merchant('/api/pf/checkout', checkoutFields('SALE', { transaction_unique_id: id }));
    expect(again).toMatchObject({ status: 'error', code: 3001, errors: [{ reason: 'id-used' }] });
    const card = { card_number: PAN, card_exp_month: '12', card_exp_year: '2030', card_holder: 'Ann Lee' };
    const sale = { ...checkoutFields(), ...card, transaction_unique_id: id };
    expect(await edge.merchant('/api/pf/host-to-host', sale)).toMatchObject({ code: 3001 });
  });

  test('with the same key gets the same answer, even concurrently', async () => {
    const fields = checkoutFields();
    const send = (more: object = {}) =>
      edge.merchant('/api/pf/checkout', { ...fields, ...more }, { 'idempotency-key': fields.transaction_unique_id });
    const [one, two] = await Promise.all([send(), send()]);
    expect(two).toEqual(one);
    expect(one).toMatchObject({ code: 0 });
    expect(await send()).toEqual(one);
    expect(await send({ amount: '13.00' })).toMatchObject({ code: 3001, errors: [{ reason: 'key-used' }] });
    expect((await look(new URL(String(one['checkout_url'])).pathname)).status).toBe(200);
  });
});

describe('the page', () => {
  test('asks for a card, and its headers forbid loading, framing and caching', async () => {
    const { path } = await open();
    const { status, headers, text } = await look(path);
    expect(status).toBe(200);
    expect(text).toContain('12.50 XTS');
    expect(text).toContain('demo_merchant');
    for (const token of ['cc-number', 'cc-exp', 'cc-csc', 'cc-name']) expect(text).toContain(`autocomplete="${token}"`);
    // The way back to the shop is the only address of somebody else, and a link: nothing is loaded.
    const withoutWayBack = text.replace(/<a href="https:\/\/shop\.example\/done[^"]*">/, '');
    expect(withoutWayBack).not.toMatch(/ann\.unlike\.any|src=|https?:\/\//);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+';/,
    );
    expect(headers['content-security-policy']).toContain("form-action 'self' http://127.0.0.1:8081 https:;");
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-request-id': expect.any(String),
    });
  });

  test("speaks the browser's language and calls the merchant by its display name", async () => {
    const { path } = await open('SALE', { merchant_account: 'demo_custom' });
    const german = { 'accept-language': 'ja, de-CH;q=0.8, en;q=0.5' };
    await edge.accounts.administration.change('demo_custom', { displayName: 'Müller & Söhne' });
    // Account data is cached for up to 30 s.
    edge.pass(31_000);
    const { headers, text } = await edge.request('GET', path, undefined, german);
    await edge.accounts.administration.change('demo_custom', { displayName: undefined });
    edge.pass(31_000);
    expect(headers).toMatchObject({ 'content-language': 'de', vary: 'Accept-Language' });
    expect(text).toContain('<title>Zahlung an Müller &amp; Söhne</title>');
    expect(text).toContain('12,50\u00a0XTS bezahlen');
    expect(text).not.toContain('demo_custom');
    const wrong = await edge.request('POST', path, typed({ cvv: 'x' }), german);
    expect(wrong.text).toContain('<title>Fehler: Zahlung an demo_custom</title>');
    expect(wrong.text).toContain('Der Sicherheitscode hat 3 oder 4 Ziffern.');
    const unknown = await edge.request('GET', '/checkout/AAAAAAAAAAAAAAAAAAAAAA', undefined, german);
    expect(unknown.text).toContain('<h1>Seite nicht gefunden</h1>');
  });

  test("does not let a merchant's address extend its policy", async () => {
    const { path } = await open('SALE', { redirect_url: 'https://shop;sandbox.example/done' });
    expect((await look(path)).headers['content-security-policy']).not.toContain('sandbox');
  });

  test('answers HEAD like GET, and otherwise only POST', async () => {
    const { path } = await open();
    expect(await edge.request('HEAD', path)).toMatchObject({ status: 200, text: '' });
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await edge.request(method, path);
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    }
  });

  test.each(['AAAAAAAAAAAAAAAAAAAAAA', 'x', '%', '..', 'AAAAAAAAAAAAAAAAAAAAAA/', 'x'.repeat(4000)])(
    'does not exist at /checkout/%s',
    async (id) => {
      for (const method of ['GET', 'POST']) {
        const { status, headers } = await edge.request(
          method,
          `/checkout/${id}`,
          method === 'POST' ? typed() : undefined,
        );
        expect([400, 404]).toContain(status);
        expect(headers['content-type']).toContain('text/html');
      }
    },
  );

  test('shows errors beside the fields, and keeps the name and the date, but not the card', async () => {
    const { path } = await open();
    const commands = edge.owner.commands.length;
    const wrong = { card_number: '4012000300001004', cvv: '73', card_holder: '<b>"A&' };
    const { status, text } = await pay(path, wrong);
    expect(status).toBe(200);
    expect(text).toMatch(/id="card_number"[^>]*aria-describedby="card_number-error"[^>]*aria-invalid="true"/);
    expect(text).toMatch(/id="cvv"[^>]*aria-describedby="cvv-hint cvv-error"[^>]*aria-invalid="true"/);
    expect(text).toMatch(/id="card_exp"[^>]*value="09 \/ 30"[^>]*aria-describedby="card_exp-hint"\s*\/>/);
    expect(text).toContain('value="&lt;b&gt;&quot;A&amp;"');
    expect(text).toContain('<a href="#card_number">');
    expect(text).not.toContain('4012000300001004');
    expect(text).not.toContain('value="73"');
    expect(edge.owner.commands).toHaveLength(commands);
    expect((await look(path)).text).toContain('name="attempt" value="1"');
  });
});

describe('a form from elsewhere', () => {
  test.each([
    ['an origin that is not ours', { origin: 'https://evil.example' }, 403],
    ['an origin of a longer name', { origin: `${ORIGIN}.evil.example` }, 403],
    ['a cross-site request', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a cross-site request without origin', { 'sec-fetch-site': 'cross-site', origin: 'null' }, 403],
    ['our origin', { origin: ORIGIN, 'sec-fetch-site': 'same-origin' }, 303],
    ['no origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
  ])('with %s', async (_name, headers, status) => {
    const { path } = await open();
    const commands = edge.owner.commands.length;
    expect((await edge.request('POST', path, typed(), headers)).status).toBe(status);
    expect(edge.owner.commands.length - commands).toBe(status === 303 ? 1 : 0);
  });

  test('of another type, or too long, or broken', async () => {
    const { path } = await open();
    const json = await edge.request('POST', path, JSON.stringify(TYPED), { 'content-type': 'application/json' });
    expect(json.status).toBe(415);
    expect((await pay(path, { more: 'x'.repeat(16 * 1024) })).status).toBe(413);
    expect((await edge.request('POST', path, `${typed()}&x=%`)).status).toBe(400);
    expect((await look(path)).text).toContain('name="attempt" value="1"');
  });
});

describe('a payment', () => {
  test.each([
    ['SALE', 'ChargeCard'],
    ['AUTH', 'AuthorizeCard'],
  ])('%s goes to its owner once, and the browser back to the merchant', async (type, command) => {
    const { path, id } = await open(type, { custom_a: '1', mid_reference: '' });
    const { status, headers } = await pay(path);
    const { type: sent, data } = lastCommand();
    expect(sent).toBe(command);
    expect(data).toMatchObject({
      merchantAccount: 'demo_merchant',
      transactionUniqueId: id,
      amountE4: 125_000,
      currency: 'XTS',
      withCvv: true,
      checkoutAttempt: 1,
      callbackUrl: CALLBACK,
      notes: { custom: { custom_a: '1' } },
    });
    expect(data).not.toHaveProperty('redirectUrl');
    expect([status, headers.location]).toEqual([303, back(data.reference, id)]);
    const commands = edge.owner.commands.length;
    expect((await look(path)).headers.location).toBe(back(data.reference, id));
    expect((await pay(path)).headers.location).toBe(back(data.reference, id));
    expect((await pay(path, { attempt: '2' })).headers.location).toBe(back(data.reference, id));
    expect(edge.owner.commands).toHaveLength(commands);
  });

  test('returns to an address in any script, on every reload', async () => {
    const { path, id } = await open('SALE', { redirect_url: 'https://магазин.example/заказ' });
    const { status, headers } = await pay(path);
    const { reference } = lastCommand().data;
    const location = `https://xn--80aairftm.example/%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7?reference=${reference}&transaction_unique_id=${id}`;
    expect([status, headers.location]).toEqual([303, location]);
    expect((await look(path)).headers.location).toBe(location);
  });

  test('is one payment, however often the form is sent concurrently', async () => {
    const { path, id } = await open();
    const commands = edge.owner.commands.length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(path)));
    expect(edge.owner.commands).toHaveLength(commands + 1);
    const location = back(lastCommand().data.reference, id);
    expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual(Array(8).fill([303, location]));
  });

  test('can be tried again after a decline, three times in total', async () => {
    const { path, id } = await open();
    edge.owner.answers = Array<object>(3).fill({ status: 'decline', code: 3101 });
    const references: string[] = [];
    for (const left of [2, 1]) {
      const attempt = String(3 - left);
      const { status, headers } = await pay(path, { attempt });
      expect([status, headers.location]).toEqual([303, path]);
      references.push(lastCommand().data.reference);
      const { text } = await look(path);
      expect(text).toContain(`${left} of 3 attempts left`);
      expect(text).toContain(`name="attempt" value="${4 - left}"`);
      expect(text).not.toMatch(/3101|Insufficient/);
      // The form from the browser's history, again.
      expect((await pay(path, { attempt })).headers.location).toBe(path);
    }
    const { headers } = await pay(path, { attempt: '3' });
    references.push(lastCommand().data.reference);
    expect(headers.location).toBe(back(references[2] ?? '', id));
    expect((await pay(path, { attempt: '4' })).headers.location).toBe(back(references[2] ?? '', id));
    expect(new Set(references.map((reference) => reference.slice(0, 16))).size).toBe(1);
    expect(new Set(references).size).toBe(3);

    const { code, transactions } = await check({ transaction_unique_id: id });
    expect(code).toBe(0);
    expect(transactions.map(({ reference, status }) => [reference, status])).toEqual(
      references.map((reference) => [reference, 'DECLINE']),
    );
    const one = await check({ reference: references[1] });
    expect(one.transactions.map(({ reference }) => reference)).toEqual([references[1]]);
  });

  test('with an unknown outcome locks the page until it is known', async () => {
    const { path, id } = await open();
    edge.owner.answers = [{ status: 'pending', code: 3109 }];
    const { headers } = await pay(path);
    expect(headers.location).toBe(path);
    const { status, text, headers: refreshing } = await look(path);
    expect([status, refreshing['refresh']]).toEqual([200, '2; url=?']);
    const staying = await look(`${path}?stay=yes`);
    expect([staying.status, staying.headers['refresh']]).toEqual([200, undefined]);
    expect(staying.text).toContain('<a class="button" href="?">Look again</a>');
    expect(text).not.toContain('<form');
    const commands = edge.owner.commands.length;
    expect((await pay(path, { attempt: '2' })).headers.location).toBe(path);
    edge.owner.away = true;
    expect((await look(path)).text).not.toContain('<form');
    edge.owner.away = false;
    expect(edge.owner.commands).toHaveLength(commands);
    const { reference } = lastCommand().data;
    edge.owner.record(reference, { status: 'success', code: 0 });
    expect((await look(path)).headers.location).toBe(back(reference, id));
  });

  test('with a challenge leads there once, and back to the page, which decides', async () => {
    const { path, id } = await open('SALE3D');
    edge.owner.answers = [{ status: 'pending', code: 11, acsUrl: ACS }];
    expect((await pay(path)).headers.location).toBe(ACS);
    const { type, data } = lastCommand();
    expect(type).toBe('AuthenticateAndChargeCard');
    expect(data).toMatchObject({ redirectUrl: ORIGIN + path, callbackUrl: CALLBACK, checkoutAttempt: 1 });
    expect((await look(path)).headers.location).toBe(ACS);
    expect((await pay(path)).headers.location).toBe(ACS);
    const returned = await look(`${path}?reference=${data.reference}&transaction_unique_id=${id}`);
    expect(returned.status).toBe(200);
    expect(returned.headers['refresh']).toBe(`2; url=?reference=${data.reference}`);
    expect(returned.text).toContain(`<a href="?reference=${data.reference}&amp;stay=yes">`);
    expect(returned.text).toContain(`href="${ACS}"`);

    edge.owner.record(data.reference, { status: 'decline', code: 3103 });
    expect((await look(path)).text).toContain('2 of 3 attempts left');
    edge.owner.answers = [{ status: 'pending', code: 11, acsUrl: ACS, eci: 5 }];
    expect((await pay(path, { attempt: '2' })).headers.location).toBe(path);
    edge.owner.record(lastCommand().data.reference, { status: 'success', code: 0 });
    expect((await look(path)).headers.location).toBe(back(lastCommand().data.reference, id));
  });

  test('of an account that was closed meanwhile is rejected', async () => {
    const { path } = await open('SALE', { merchant_account: 'demo_custom' });
    const commands = edge.owner.commands.length;
    await edge.accounts.administration.changeState('demo_custom', 'suspend');
    // Account data is cached for up to 30 s.
    edge.pass(31_000);
    const { status, text } = await pay(path);
    await edge.accounts.administration.changeState('demo_custom', 'activate');
    edge.pass(31_000);
    expect([status, text.includes('Payment not possible')]).toEqual([403, true]);
    expect(edge.owner.commands).toHaveLength(commands);
  });
});

describe('CHECK', () => {
  test('knows of a page from its first submission on', async () => {
    const { path, id } = await open();
    expect(await check({ transaction_unique_id: id })).toEqual({ code: 3014, transactions: [] });
    edge.owner.answers = ['silence'];
    const paid = pay(path);
    await until('the command is sent', () => edge.owner.commands.some(({ data }) => data.transactionUniqueId === id));
    const { transactions } = await check({ transaction_unique_id: id });
    expect(transactions).toMatchObject([{ transaction_unique_id: id, status: 'PENDING', code: 11 }]);
    expect((await paid).headers.location).toBe(path);
  });

  test('lists follow-ups of an attempt after all attempts', async () => {
    const { path, id } = await open('AUTH');
    edge.owner.answers = [{ status: 'decline', code: 3101 }];
    await pay(path);
    const first = lastCommand().data.reference;
    await pay(path, { attempt: '2' });
    const second = lastCommand().data.reference;
    const settle = await edge.merchant('/api/pf/host-to-host', {
      transaction_type: 'SETTLE',
      transaction_unique_id: newId(),
      reference: second,
      amount: '12.50',
      currency: 'XTS',
    });
    const { transactions } = await check({ transaction_unique_id: id });
    expect(transactions.map(({ reference }) => reference)).toEqual([first, second, settle['reference']]);
  });
});

describe('the form shows', () => {
  test('test mode, what is bought, and the way back to the shop', async () => {
    const { path, id } = await open('SALE', { merchant_product_name: `2 <b>Rosen</b> ${'x'.repeat(200)}` });
    const { text } = await look(path);
    expect(text).toContain('<strong>Test mode</strong> No money moves here. Do not enter a real card.');
    expect(text).toMatch(/<dt>Order<\/dt>\s*<dd>2 &lt;b&gt;Rosen&lt;\/b&gt; x{85}…<\/dd>/);
    expect(text).toContain(`href="${REDIRECT}&amp;transaction_unique_id=${id}"`);
    expect((await look((await open()).path)).text).not.toContain('<dt>Order</dt>');
  });

  test('that an authentication failed, and no other reason', async () => {
    const { path } = await open('SALE3D');
    edge.owner.answers = [
      { status: 'decline', code: 3103 },
      { status: 'decline', code: 3102 },
    ];
    await pay(path);
    expect((await look(path)).text).toContain('Your bank could not confirm that it was you.');
    await pay(path, { attempt: '2' });
    const { text } = await look(path);
    expect(text).toContain('The payment was declined.');
    expect(text).not.toContain('Your bank');
  });
});

describe('closed by the merchant', () => {
  const expire = (id: string) => edge.merchant('/api/pf/checkout/expire', { transaction_unique_id: id });
  async function statusOf(id: string) {
    const fields = { ...CREDENTIALS, transaction_type: 'CHECK', transaction_unique_id: id };
    const json = { 'content-type': 'application/json' };
    const { headers } = await edge.request('POST', '/api/pf/host-to-host', JSON.stringify(fields), json);
    return headers['checkout-status'];
  }

  test('an unused page says so at once, leads back, and takes no card; closing it again changes nothing', async () => {
    const { path, id } = await open();
    expect(await statusOf(id)).toBe('open');
    const closed = await expire(id);
    expect(closed).toEqual({
      api_version: 1,
      merchant_account: 'demo_merchant',
      sessionid: expect.any(String),
      transaction_unique_id: id,
      timestamp: expect.any(Number),
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
      state: 'expired',
    });
    const commands = edge.owner.commands.length;
    expect((await pay(path)).headers.location).toBe(path);
    expect(edge.owner.commands).toHaveLength(commands);
    const { status, text } = await look(path);
    expect(status).toBe(410);
    expect(text).toContain('The merchant has closed this page. Nothing was charged.');
    expect(text).toContain(`href="${REDIRECT}&amp;transaction_unique_id=${id}"`);
    expect(await expire(id)).toMatchObject({ code: 0, state: 'expired' });
    expect(await statusOf(id)).toBe('ended');
    expect(await check({ transaction_unique_id: id })).toEqual({ code: 3014, transactions: [] });
  });

  test('after a decline the owner is notified, and the browser returns', async () => {
    const { path, id } = await open();
    edge.owner.answers = [{ status: 'decline', code: 3101 }];
    await pay(path);
    const { reference, paymentId } = lastCommand().data;
    expect(await statusOf(id)).toBe('open');
    expect(await expire(id)).toMatchObject({ code: 0, state: 'expired' });
    expect(await statusOf(id)).toBe('ended');
    expect((await pay(path, { attempt: '2' })).headers.location).toBe(back(reference, id));
    await until('the owner is notified', () => edge.owner.ended.some((ended) => ended.paymentId === paymentId));
    expect((await check({ transaction_unique_id: id })).transactions).toHaveLength(1);
  });

  test('while an attempt is under way it tells so, and no other follows', async () => {
    const { path, id } = await open();
    edge.owner.answers = [{ status: 'pending', code: 3109 }];
    await pay(path);
    const { reference } = lastCommand().data;
    expect(await expire(id)).toMatchObject({ code: 0, state: 'under_way' });
    expect(await statusOf(id)).toBe('open');
    edge.owner.record(reference, { status: 'decline', code: 3101 });
    expect(await statusOf(id)).toBe('ended');
    const commands = edge.owner.commands.length;
    await pay(path, { attempt: '2' });
    expect(edge.owner.commands).toHaveLength(commands);
    expect(await expire(id)).toMatchObject({ state: 'expired' });
  });

  test('a page that is paid says so', async () => {
    const { path, id } = await open();
    await pay(path);
    expect(await statusOf(id)).toBe('ended');
    expect(await expire(id)).toMatchObject({ code: 0, state: 'paid' });
  });

  describe('when a card is submitted at the same time', () => {
    /** Both have read the page as it was, and wait to hear that its first attempt was declined. */
    async function meet() {
      const { path, id } = await open();
      edge.owner.answers = [{ status: 'decline', code: 3101 }];
      await pay(path);
      const held: (() => void)[] = [];
      edge.owner.held = held;
      const paid = pay(path, { attempt: '2' });
      await until('the card waits', () => held.length === 1);
      const closed = expire(id);
      await until('the close waits', () => held.length === 2);
      edge.owner.held = undefined;
      const [letCard = fail, letClose = fail] = held;
      return { path, id, paid, closed, letCard, letClose };
    }
    const fail = (): never => {
      throw new Error('nothing waits');
    };
    const attemptsOn = async (id: string) => (await check({ transaction_unique_id: id })).transactions.length;

    test('a close that comes first stops the card', async () => {
      const { path, id, paid, closed, letCard, letClose } = await meet();
      const commands = edge.owner.commands.length;
      letClose();
      expect(await closed).toMatchObject({ code: 0, state: 'expired' });
      letCard();
      expect((await paid).headers.location).toBe(path);
      expect(edge.owner.commands).toHaveLength(commands);
      expect(await attemptsOn(id)).toBe(1);
    });

    test('a card that comes first is what the close tells', async () => {
      const { id, paid, closed, letCard, letClose } = await meet();
      letCard();
      expect((await paid).headers.location).toContain(`${REDIRECT}&reference=${lastCommand().data.reference}`);
      letClose();
      expect(await closed).toMatchObject({ code: 0, state: 'paid' });
      expect(await attemptsOn(id)).toBe(2);
    });

    test('a card that comes first and has no outcome yet is under way', async () => {
      const { id, paid, closed, letCard, letClose } = await meet();
      edge.owner.answers = [{ status: 'pending', code: 3109 }];
      letCard();
      await paid;
      letClose();
      expect(await closed).toMatchObject({ code: 0, state: 'under_way' });
      expect(await attemptsOn(id)).toBe(2);
    });
  });

  test.each([
    [{}, 1002],
    [{ transaction_unique_id: 'nobody-has-this-id' }, 3014],
  ])('without a page there is nothing to close: %j', async (fields, code) => {
    expect(await edge.merchant('/api/pf/checkout/expire', fields)).toMatchObject({ status: 'error', code });
  });
});

describe('at its end', () => {
  const document = (path: string) =>
    edge.mongo.collection<{ _id: string; state: string; request: object }>('checkouts').findOne({
      _id: path.slice('/checkout/'.length),
    });
  const hasEnded = (path: string) =>
    until('the page has ended', async () => {
      const found = await document(path);
      return found?.state === 'ended' ? found : undefined;
    });
  const endedOf = (paymentId: string) => edge.owner.ended.filter((ended) => ended.paymentId === paymentId);
  /** The sweeper looks at pages. */
  const untilTimeIsOver = () => void edge.pass(1_806_000);
  /** No attempt of the last moment is on its way any more. */
  const untilNoneCanCome = () => void edge.pass(60_000);

  test('an unused page says so, and leads back', async () => {
    const { path, id } = await open();
    untilTimeIsOver();
    untilNoneCanCome();
    expect((await pay(path)).headers.location).toBe(path);
    const { status, text } = await look(path);
    expect(status).toBe(410);
    expect(text).toContain(`href="${REDIRECT}&amp;transaction_unique_id=${id}"`);
    const ended = await hasEnded(path);
    expect(JSON.stringify(ended)).not.toContain('ann.unlike.any');
    expect(ended.request).toMatchObject({ redirectUrl: REDIRECT, amountE4: 125_000 });
    expect((await look(path)).status).toBe(410);
    expect(await check({ transaction_unique_id: id })).toEqual({ code: 3014, transactions: [] });
  });

  test('the owner is notified of a final decline, and of nothing else', async () => {
    const declined = await open();
    edge.owner.answers = [{ status: 'decline', code: 3101 }];
    await pay(declined.path);
    const attempt = lastCommand().data;
    const succeeded = await open();
    await pay(succeeded.path);
    const charged = lastCommand().data;
    const unknown = await open();
    edge.owner.answers = [{ status: 'pending', code: 3109 }];
    await pay(unknown.path);
    const open3109 = lastCommand().data;

    untilTimeIsOver();
    untilNoneCanCome();
    expect((await look(declined.path)).headers.location).toBe(back(attempt.reference, declined.id));
    const commands = edge.owner.commands.length;
    expect((await pay(declined.path, { attempt: '2' })).headers.location).toBe(back(attempt.reference, declined.id));
    await Promise.all([hasEnded(declined.path), hasEnded(succeeded.path)]);
    await until('the owner is notified', () => endedOf(attempt.paymentId).length > 0);
    expect((await document(unknown.path))?.state).toBe('open');

    edge.owner.record(open3109.reference, { status: 'error', code: 3118 });
    // Due again when the sweeper's lease ends.
    edge.pass(16_000);
    await hasEnded(unknown.path);
    await until('the owner is notified', () => endedOf(open3109.paymentId).length > 0);
    for (const paymentId of [attempt.paymentId, open3109.paymentId]) {
      expect(endedOf(paymentId)).toEqual([{ paymentId, merchantAccount: 'demo_merchant' }]);
    }
    expect(endedOf(charged.paymentId)).toEqual([]);
    expect(edge.owner.commands).toHaveLength(commands);
    expect((await look(declined.path)).headers.location).toBe(back(attempt.reference, declined.id));
  });

  test('the owner is notified at once, and again when no attempt of the last moment can come', async () => {
    const { path } = await open();
    edge.owner.answers = [{ status: 'decline', code: 3101 }];
    await pay(path);
    const { paymentId } = lastCommand().data;
    untilTimeIsOver();
    await until('the owner is notified', () => endedOf(paymentId).length === 1);
    expect((await document(path))?.state).toBe('open');
    untilNoneCanCome();
    await hasEnded(path);
    await until('the owner is notified again', () => endedOf(paymentId).length === 2);
  });
});

test('nothing written shows a card number, a CVV, or the address of a page', async () => {
  const { path } = await open();
  await pay(path, { card_number: '4012 0003 0000 1003', card_holder: PAN });
  await pay(path, { attempt: '2', card_number: `${PAN}1` });
  await edge.request('GET', `${path}?card_number=${PAN}`);
  const written = [
    ...edge.lines,
    JSON.stringify(edge.owner.commands),
    JSON.stringify(await edge.mongo.collection('journal').find().toArray()),
    JSON.stringify(await edge.mongo.collection('checkouts').find().toArray()),
  ].join('\n');
  expect(written).not.toContain(PAN);
  expect(written).not.toContain('4012 0003 0000 1003');
  expect(written).not.toMatch(new RegExp(`"cvv"|(?<![\\w.-])${CVV}(?![\\w.-])`));
  const log = edge.lines.join('\n');
  expect(log).toContain('page answered');
  expect(log).not.toContain(path.slice('/checkout/'.length));
});
