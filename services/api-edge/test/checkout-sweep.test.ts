import { until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { startEdgeFixture } from './edge-fixture';

/** Of the other account, before this one's. */
const PAGES = 1_000;
const OTHER_ACCOUNT = 'demo_custom';
const LIFETIME_MS = 1_800_000;
const REST_MS = 60_000;

let edge: EdgeFixture;
beforeAll(async () => (edge = await startEdgeFixture('edge-checkout-sweep')));
afterAll(async () => edge.close());

async function openPage(): Promise<string> {
  const answer = await edge.merchant('/api/pf/checkout', {
    transaction_type: 'SALE',
    transaction_unique_id: 'checkout-sweep-1',
    amount: '12.50',
    currency: 'XTS',
    first_name: 'Ann',
    last_name: 'Lee',
    country: 'DEU',
    user_email: 'ann@example.com',
    user_ip: '192.0.2.1',
    callback_url: 'https://shop.example/callback',
    redirect_url: 'https://shop.example/done',
  });
  return new URL(String(answer['checkout_url'])).pathname;
}

test('the pages that one account never visits do not delay the last callback of another', async () => {
  const path = await openPage();
  edge.owner.answers = [{ status: 'decline', code: 3101 }];
  const card = { card_number: '4111 1111 1111 1111', card_exp: '09 / 30', cvv: '123', card_holder: 'Ann Lee' };
  await edge.request('POST', path, new URLSearchParams({ attempt: '1', ...card }).toString());
  const pages = edge.mongo.collection<{ _id: string; merchantAccount: string; sweepAt: number }>('checkouts');
  const [page] = await pages.find().toArray();
  if (page === undefined) throw new Error('the page is not stored');
  await pages.insertMany(
    Array.from({ length: PAGES }, (_, index) => ({
      ...page,
      _id: `unvisited-${index}`,
      merchantAccount: OTHER_ACCOUNT,
      paymentId: `UNVISITED${String(index).padStart(7, '0')}`,
      sweepAt: page.sweepAt - REST_MS,
    })),
  );
  edge.pass(LIFETIME_MS + REST_MS);
  await until('the owner is notified', () => edge.owner.ended.length > 0);
  const waiting = await pages.countDocuments({ merchantAccount: OTHER_ACCOUNT, sweepAt: { $exists: true } });
  expect(edge.owner.ended).toMatchObject([{ merchantAccount: 'demo_merchant' }]);
  expect(waiting).toBeGreaterThan(0);
  const left = () => pages.countDocuments({ sweepAt: { $exists: true } });
  await until('every page has ended', async () => (await left()) === 0, 60_000);
}, 120_000);
