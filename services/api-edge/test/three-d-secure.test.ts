import { TEST_CARDS } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import type { EdgeFixture } from './edge-fixture';
import { startEdgeFixture } from './edge-fixture';

const ACS = 'http://127.0.0.1:8081/challenge/abc';
const PATH = '/api/pf/host-to-host';

let edge: EdgeFixture;
beforeAll(async () => (edge = await startEdgeFixture('edge-3ds')));
afterAll(async () => edge.close());

let count = 0;
const request = (type: string, more: object = {}) => ({
  transaction_type: type,
  transaction_unique_id: `three-d-secure-${(count += 1)}`,
  amount: '10.00',
  currency: 'XTS',
  card_number: TEST_CARDS.challenged.visa,
  card_exp_month: '12',
  card_exp_year: '2030',
  cvv: '0739',
  card_holder: 'Ann Lee',
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
  ...more,
});
const URLS = { callback_url: 'https://shop.example/callback', redirect_url: 'https://shop.example/done' };

/** References under which the vault holds a CVV. */
async function cvvsOf(reference: string): Promise<number> {
  const vault = await connectMongo({
    uri: process.env['TEST_MONGODB_URI'] ?? '',
    database: edge.mongo.mongoose.name.replace(/edge$/, 'vault'),
  });
  try {
    return await vault.collection<{ _id: string }>('cvvs').countDocuments({ _id: reference });
  } finally {
    await vault.close();
  }
}

test('a SALE3D becomes a command, and is answered before the challenge', async () => {
  edge.owner.answers = [{ status: 'pending', code: 11, acsUrl: ACS }];
  const fields = request('SALE3D', URLS);
  const answer = await edge.merchant(PATH, fields);
  expect(answer).toMatchObject({
    status: 'success',
    code: 0,
    message: '3D Secure authentication started',
    authcode: null,
    acs_url: ACS,
  });
  const command = edge.owner.commands.at(-1);
  expect(command).toMatchObject({
    type: 'AuthenticateAndChargeCard',
    data: {
      transactionUniqueId: fields.transaction_unique_id,
      withCvv: true,
      callbackUrl: URLS.callback_url,
      redirectUrl: URLS.redirect_url,
      token: answer['token'],
    },
  });
  expect(command?.data).not.toHaveProperty('checkoutAttempt');
  expect(await cvvsOf(String(answer['reference']))).toBe(1);
  const check = await edge.merchant(PATH, { transaction_type: 'CHECK', reference: answer['reference'] });
  expect(check['transactions']).toMatchObject([{ transaction_type: 'SALE3D', status: 'PENDING', code: 11 }]);
});

test('an AUTH3D keeps no CVV, even if sent one', async () => {
  edge.owner.answers = [{ acsUrl: ACS, pareq: 'handle', eci: 5 }];
  const answer = await edge.merchant(PATH, request('AUTH3D', { redirect_url: URLS.redirect_url }));
  expect(answer).toMatchObject({
    status: 'success',
    message: 'Transaction processed successfully',
    acs_url: ACS,
    pareq: 'handle',
    eci: 5,
  });
  const command = edge.owner.commands.at(-1);
  expect(command).toMatchObject({ type: 'AuthenticateCard', data: { withCvv: false, redirectUrl: URLS.redirect_url } });
  expect(command?.data).not.toHaveProperty('callbackUrl');
  expect(await cvvsOf(String(answer['reference']))).toBe(0);
});

test('a SALE may rely on an AUTH3D of its payment', async () => {
  const { reference } = await edge.merchant(PATH, request('AUTH3D'));
  const sale = await edge.merchant(PATH, request('SALE', { reference, pares: 'proof' }));
  expect(String(sale['reference']).slice(0, 16)).toBe(String(reference).slice(0, 16));
  expect(edge.owner.commands.at(-1)?.data).toMatchObject({ authentication: { reference, pares: 'proof' } });
});
