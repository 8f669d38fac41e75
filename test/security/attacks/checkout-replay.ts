import { formsOf } from '../../support/form-client';
import type { TextAnswer } from '../../support/http';
import { FORM_TYPE, formOf } from '../../support/http';
import type { Body } from '../../support/system';
import { CARD, checkOf, pageRequest, recordsOf } from '../../support/system';
import type { World } from '../world';

const CHECKOUT_PATH = '/api/pf/checkout';
const TYPED = { card_number: CARD.card_number, card_exp: '12/30', cvv: '123', card_holder: 'Ann Lee' };
const SOLD = { status: 'SUCCESS', code: 0 };

/** Card-entry forms that are posted again, by others, or with other values. */
export function attackCheckout(world: () => World): void {
  interface Opened {
    uniqueId: unknown;
    path: string;
    form: Record<string, string>;
  }

  async function open(): Promise<Opened> {
    const fields = pageRequest('SALE', { redirect_url: `${world().merchant.url}/back` });
    const url = String((await world().send(fields, CHECKOUT_PATH))['checkout_url']);
    const { text } = await world().exchange(world().ports.PORT, { method: 'GET', path: new URL(url).pathname });
    const [form] = formsOf({ status: 200, url, headers: {}, body: text });
    return { uniqueId: fields['transaction_unique_id'], path: new URL(url).pathname, form: form?.fields ?? {} };
  }

  const post = ({ path, form }: Opened, more: Body = {}, headers: Record<string, string> = {}): Promise<TextAnswer> =>
    world().exchange(world().ports.PORT, {
      path,
      headers: { ...FORM_TYPE, ...headers },
      body: formOf({ ...form, ...TYPED, ...more }),
    });

  async function recordsFor({ uniqueId }: Opened) {
    return recordsOf(await world().send(checkOf({ transaction_unique_id: uniqueId })));
  }

  test('the same form, posted ten times at once and again later, charges once', async () => {
    const page = await open();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(page)));
    answers.push(await post(page), await post(page, { card_number: '5555555555554444' }));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    const records = await recordsFor(page);
    expect(records).toMatchObject([SOLD]);
    expect(await world().ledger(records[0]?.reference)).toMatchObject([{ effect: 'sold' }]);
  });

  test.each(['', '0', '2', '-1', '1e0', '01', '999', '1\u0000'])(
    'a form with attempt %j charges nothing',
    async (attempt) => {
      const page = await open();
      await post(page, { attempt });
      expect(await recordsFor(page)).toEqual([]);
      expect((await post(page)).status).toBe(303);
      expect(await recordsFor(page)).toMatchObject([SOLD]);
    },
  );

  test.each([
    ['origin', 'https://evil.example'],
    ['origin', 'https://127.0.0.1.evil.example'],
    ['sec-fetch-site', 'cross-site'],
  ])('a form from another site is refused: %s %s', async (name, value) => {
    const page = await open();
    expect((await post(page, {}, { [name]: value })).status).toBe(403);
    expect(await recordsFor(page)).toEqual([]);
  });

  test('fields of the merchant are not taken from the form', async () => {
    const page = await open();
    await post(page, {
      amount: '0.01',
      currency: 'EUR',
      redirect_url: 'https://evil.example/',
      merchant_account: 'demo_custom',
    });
    const records = await recordsFor(page);
    expect(records).toMatchObject([SOLD]);
    expect(await world().ledger(records[0]?.reference)).toMatchObject([{ effect: 'sold', amount: 10 }]);
    const { headers } = await world().exchange(world().ports.PORT, { method: 'GET', path: page.path });
    expect(headers.location).toMatch(new RegExp(`^${world().merchant.url}/back\\?`));
  });

  test.each(['AAAAAAAAAAAAAAAAAAAAAA', '..%2f..%2fapi', '%00', '__proto__', '$ne', 'x'.repeat(23)])(
    'a page that nobody opened is not there: %s',
    async (id) => {
      const page = { path: `/checkout/${id}`, form: { attempt: '1' }, uniqueId: '' };
      expect([400, 404]).toContain((await post(page)).status);
    },
  );
}
