import { callbackEvents } from '@gateway/contracts';
import fc from 'fast-check';
import { callbackOf } from '../domain/callback';
import type { AttemptResult, Delivery, DeliveryEvent } from '../domain/delivery';
import { decideAfterAttempt, evolve, newDelivery } from '../domain/delivery';
import { announce } from './announcements';

const NOW = 1_000_000;
const ID = '0123456789ABCDEF-1';

function deliveryTo(callbackUrl: string): Delivery {
  const outcome = {
    kind: 'payout',
    paymentId: '0123456789ABCDEF',
    reference: '0123456789ABCDEF0001',
    merchantAccount: 'merchant_1',
    transactionUniqueId: 'order-000001',
    status: 'success',
    code: 0,
    message: 'done',
    callbackUrl,
  } as const;
  return newDelivery(callbackOf(outcome), { at: NOW, claimableAt: NOW, correlationId: 'c' });
}

/** What is announced of a delivery whose only retry ends like its first attempt. */
function announcedOf(callbackUrl: string, result: AttemptResult) {
  let delivery = deliveryTo(callbackUrl);
  const take = (event: DeliveryEvent) => {
    delivery = evolve(delivery, event);
    return announce(delivery, event, { id: ID }) ?? [];
  };
  const attempt = () =>
    decideAfterAttempt(delivery, result, { now: NOW, scheduleSeconds: [1], random: 0 }).flatMap(take);
  return [...attempt(), ...attempt()];
}

function problemsOf(announcements: ReturnType<typeof announcedOf>) {
  return announcements.flatMap(
    ({ type, data }) => callbackEvents[type as keyof typeof callbackEvents].problem(data) ?? [],
  );
}

/** Of one to 2,000 characters, as many as an address may have. */
const hosts = fc.array(fc.stringMatching(/^[a-z0-9]{1,63}$/), { minLength: 1, maxLength: 60 });
/** What Node takes for one: three digits. */
const statuses = fc.integer({ min: 0, max: 999 });

test('every event matches its contract, whatever the address and the status', () => {
  fc.assert(
    fc.property(hosts, fc.integer({ min: 1, max: 65_535 }), statuses, (labels, port, httpStatus) => {
      const url = `https://a${labels.join('.').slice(0, 2_000)}:${port}/done`;
      fc.pre(URL.canParse(url));
      const announced = announcedOf(url, { httpStatus, body: '', durationMs: 1 });
      expect(problemsOf(announced)).toEqual([]);
      expect(announced.length).toBeGreaterThan(1);
    }),
  );
});

test.each([100, 200, 599])('a status that events can have is announced: %d', (httpStatus) => {
  const [attempted] = announcedOf('https://shop.example/done?secret=1', { httpStatus, durationMs: 1 });
  expect(attempted).toMatchObject({ type: 'CallbackAttempted', data: { httpStatus, origin: 'https://shop.example' } });
});

test.each([0, 99, 600, 999])('a status that events cannot have is left out: %d', (httpStatus) => {
  const [attempted] = announcedOf('https://shop.example/done', { httpStatus, durationMs: 1 });
  expect(attempted).toMatchObject({ type: 'CallbackAttempted', data: { acknowledged: false, attempts: 1 } });
  expect(attempted?.data).not.toHaveProperty('httpStatus');
});

test('the origin of a long address is cut', () => {
  const host = 'a.'.repeat(200) + 'example';
  const announced = announcedOf(`https://${host}/done`, { error: 'ENOTFOUND', durationMs: 1 });
  expect(announced.map(({ type }) => type)).toEqual(['CallbackAttempted', 'CallbackAttempted', 'CallbackExhausted']);
  for (const { data } of announced) expect(data).toMatchObject({ origin: `https://${host}`.slice(0, 300) });
});
