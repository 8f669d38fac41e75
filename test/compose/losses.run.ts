import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Composed } from '../support/composed-system';
import { composed } from '../support/composed-system';
import type { Merchant } from '../support/merchant';
import { startMerchant } from '../support/merchant';
import type { PayoutClient } from '../support/payouts';
import { payoutClient } from '../support/payouts';
import type { Body, CheckRecord, System } from '../support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from '../support/system';
import type { Project } from './project';
import { openProject } from './project';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const project: Project = openProject(composed);
const { name } = composed;

/** Containers that each system can lose at once, since it has another of each. Of threeds only the first has pages. */
const LOST: Partial<Record<Composed['name'], readonly string[]>> = {
  scale: ['card-processing', 'threeds-2', 'payout', 'auth-expiry', 'callback-dispatcher'],
  cluster: ['kafka', 'mongodb'],
};
/** Others have taken over long before, but on a busy machine. */
const TAKEOVER_TIMEOUT_MS = 120_000;
/** They fall on all partitions. */
const SALES = 24;

let system: System;
let shop: Merchant;
let payouts: PayoutClient;
beforeAll(async () => {
  system = await startSystem('losses');
  shop = await startMerchant();
  payouts = payoutClient(system);
});
afterAll(() => shop.close());

/** Repeats a request until it is taken, as shops do, and waits for its outcome. */
async function outcomeOf(fields: Body): Promise<CheckRecord> {
  const headers = { 'idempotency-key': String(fields['transaction_unique_id']) };
  const answerTo = async (request: Body) => (await system.send(request, headers).catch(() => undefined))?.data;
  const reference = await until(
    'the request is taken',
    async () => (await answerTo(fields))?.['reference'] as string | undefined,
    TAKEOVER_TIMEOUT_MS,
  );
  return until(
    `the outcome of ${reference}`,
    async () => {
      const checked = (await system.send(checkOf({ reference })).catch(() => undefined))?.data;
      const [record] = checked?.['code'] === 0 ? recordsOf(checked) : [];
      return record?.status === 'PENDING' ? undefined : record;
    },
    TAKEOVER_TIMEOUT_MS,
  );
}

test('payments go on without a replica, broker or member of each', async () => {
  const lost = LOST[name] ?? [];
  expect(lost).not.toEqual([]);
  await project.ready();
  await project.compose('kill', ...lost);

  const sales = await Promise.all(Array.from({ length: SALES }, () => outcomeOf(cardRequest('SALE'))));
  expect(sales.map(({ status }) => status)).toEqual(sales.map(() => 'SUCCESS'));

  const authorized = await outcomeOf(cardRequest('AUTH'));
  expect(await outcomeOf(followUp('SETTLE', authorized.reference))).toMatchObject({ status: 'SUCCESS' });

  const urls = { callback_url: `${shop.url}/callback`, redirect_url: `${shop.url}/back` };
  const authenticated = cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls });
  const { reference, status } = await outcomeOf(authenticated);
  expect(status).toBe('SUCCESS');
  await shop.callbackOf(reference);

  const paid = await payouts.pay();
  expect(await payouts.ended({ reference: paid['reference'] })).toMatchObject({ status: 'SUCCESS' });
}, 400_000);

test('what was lost comes back', async () => {
  await project.compose('up', '-d');
  const names = (await project.ready()).flatMap(({ service, running }) => (running ? [service] : []));
  expect(names).toEqual(expect.arrayContaining([...(LOST[name] ?? [])]));
  expect(await outcomeOf(cardRequest('SALE'))).toMatchObject({ status: 'SUCCESS' });
}, 400_000);
