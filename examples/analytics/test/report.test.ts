import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OpenBrowser } from '../../../test/support/browser';
import { keepPicture, openBrowser } from '../../../test/support/browser';
import { readCompleteness } from '../src/report/completeness';
import { readFigures } from '../src/report/figures';
import { renderReport } from '../src/report/page';
import type { Store } from '../src/store';
import { openStore } from '../src/store';
import type { Written } from './synthetic';
import { cardEvent, eventOf, write } from './synthetic';

const HOUR_MS = 3_600_000;
const END = Date.parse('2026-11-22T14:05:09Z');
const HOSTILE = `<script>alert('1')</script>`;

let directory: string;
let store: Store;
let browser: OpenBrowser;

/** Numbers from 0 to 1 that are the same in each run. */
function createDice(): () => number {
  let state = 20_261_122;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Two days of a shop: more in the evening, a bad hour at the bank, some unknown outcomes. */
function twoDays(): Written[] {
  const dice = createDice();
  const events: Written[] = [];
  for (let hour = 0; hour < 54; hour += 1) {
    const startMs = END - (53 - hour) * HOUR_MS - 300_000;
    const ofDay = new Date(startMs).getUTCHours();
    const payments = Math.round(6 + 22 * Math.max(0, Math.sin(((ofDay - 5) / 24) * 2 * Math.PI)) + 5 * dice());
    for (let index = 0; index < payments; index += 1) {
      const timeMs = startMs + Math.floor(dice() * 290_000);
      events.push(...payment(`P${hour}X${index}Y`, timeMs, dice, hour === 50));
      if (index % 4 === 0) events.push(...payout(`Q${hour}X${index}Y`, timeMs, dice));
    }
  }
  return events;
}

const DECLINES = [
  [3_101, 'Insufficient funds'],
  [3_101, 'Insufficient funds'],
  [3_101, 'Insufficient funds'],
  [3_105, 'Expired card'],
  [3_114, 'Invalid card number'],
  [3_140, 'General bank decline'],
  [3_202, 'Velocity rule'],
] as const;

function payment(name: string, timeMs: number, dice: () => number, isBadHour: boolean): Written[] {
  const cardBrand = dice() < 0.55 ? 'visa' : dice() < 0.8 ? 'mastercard' : 'american-express';
  const money = { amountE4: 10_000 * Math.ceil(dice() * 180) + 9_900, cardBrand };
  const luck = dice();
  if (luck < (isBadHour ? 0.5 : 0.04)) {
    const code = dice() < 0.6 ? 3_109 : 3_124;
    const unknown = cardEvent('OperationOutcomeUnknown', name, 1, timeMs, { ...money, status: 'pending', code });
    const later = { ...money, acceptedAt: timeMs };
    const endMs = timeMs + 4_000 + dice() * 90_000;
    const fate = dice();
    if (fate < 0.12) return [unknown];
    if (fate < 0.6) return [unknown, cardEvent('CardCharged', name, 2, Math.floor(endMs), later)];
    const failed = { ...later, status: 'error', code, message: 'Outcome was unknown' };
    return [unknown, cardEvent('OperationFailed', name, 2, Math.floor(endMs), failed)];
  }
  if (luck < 0.14) {
    const [code, message] = DECLINES[Math.floor(dice() * DECLINES.length)] ?? [0, ''];
    return [cardEvent('OperationDeclined', name, 1, timeMs, { ...money, status: 'decline', code, message })];
  }
  if (luck > 0.85) return inSteps(name, timeMs, money, luck > 0.95);
  const charged = cardEvent('CardCharged', name, 1, timeMs, money);
  return [charged, ...callback(charged, timeMs, dice)];
}

/** AUTH and SETTLE; then perhaps REFUND. */
function inSteps(name: string, timeMs: number, money: Record<string, unknown>, isRefunded: boolean): Written[] {
  const steps = [
    ['CardAuthorized', 'AUTH'],
    ['AuthorizationSettled', 'SETTLE'],
    ...(isRefunded ? [['ChargeRefunded', 'REFUND']] : []),
  ];
  return steps.map(([type = '', transactionType], index) => {
    const reference = `${name.padEnd(16, '0')}000${index + 1}`;
    return cardEvent(type, name, index + 1, timeMs + index, { ...money, transactionType, reference });
  });
}

function callback(reported: Written, timeMs: number, dice: () => number): Written[] {
  const data = { deliveryId: reported.id, kind: 'card', reference: 'R', attempts: 1, origin: 'https://shop.example' };
  const given = { topic: 'callback.events.v1', subject: reported.id, data };
  const attempted = eventOf({ ...given, type: 'CallbackAttempted', version: 1, timeMs: timeMs + 20 });
  if (dice() < 0.02) return [attempted];
  const deliveredMs = timeMs + Math.floor(40 + 300 * dice() ** 3 + (dice() < 0.08 ? 4_000 * dice() : 0));
  return [attempted, eventOf({ ...given, type: 'CallbackDelivered', version: 2, timeMs: deliveredMs })];
}

function payout(name: string, timeMs: number, dice: () => number): Written[] {
  const status = dice() < 0.93 ? 'PayoutSettled' : 'PayoutDeclined';
  const data = {
    payoutId: name,
    reference: `${name.padEnd(16, '0')}0001`,
    amountE4: 10_000 * Math.ceil(dice() * 900),
    feeE4: 5_000,
    currency: 'EUR',
    acceptedAt: timeMs,
  };
  return ['PayoutAccepted', status].map((type, index) =>
    eventOf({
      topic: 'payout.events.v1',
      type,
      subject: data.reference,
      version: index + 1,
      timeMs: timeMs + index,
      data,
    }),
  );
}

async function report(): Promise<string> {
  await store.completeTo(new Date(END));
  return store.snapshot(async (reading) => renderReport(await readFigures(reading), await readCompleteness(reading)));
}

beforeAll(async () => (browser = await openBrowser()), 60_000);
afterAll(() => browser.close());
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'analytics-'));
  store = await openStore(directory);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

test('of nothing is a page too', async () => {
  expect(await report()).toContain('✓ Complete to 2026-11-22 14:05:09 UTC, 0 gaps, 0 duplicates');
});

test('its figures are those of the events', async () => {
  await write(store, twoDays());
  await store.completeTo(new Date(END));
  const figures = await store.snapshot(readFigures);
  const { approved, declined, failed, open } = figures.total;
  const payments = new Set(twoDays().flatMap(({ topic, subject }) => (topic === 'card.events.v1' ? [subject] : [])))
    .size;
  expect(approved + declined + failed + open).toBe(payments);
  const all = figures.brands.reduce((sum, one) => sum + one.approved + one.declined + one.failed + one.open, 0);
  expect(all).toBe(payments);
  expect(figures.codes.reduce((sum, { operations }) => sum + operations, 0)).toBe(declined + failed);
  expect(figures.hours).toHaveLength(48);
  expect(figures.hours.at(-1)?.hour).toBe('2026-11-22 14:00:00');
  expect(figures.callbackTimes.reduce((sum, { callbacks }) => sum + callbacks, 0)).toBe(figures.callbacks.delivered);
  const [total] = figures.payouts;
  expect(figures.payouts.map(({ currency }) => currency)).toEqual(['EUR']);
  expect(total?.fees).toBe((((total?.settled ?? 0) * 5_000) / 10_000).toFixed(4));
});

test.each(['light', 'dark'] as const)(
  'in a browser, %s: nothing is loaded, nothing is run, nothing is cut off',
  async (colorScheme) => {
    const [first, ...others] = twoDays();
    const later = { cardBrand: HOSTILE, transactionType: 'AUTH' };
    const gap = cardEvent('CardAuthorized', 'PAYMENTWITHAGAP1', 2, END, later);
    await write(store, first === undefined ? [] : [first, ...others, ...(colorScheme === 'dark' ? [gap] : [])]);
    const path = join(directory, 'report.html');
    writeFileSync(path, await report());
    const { page, context, complaints } = await browser.visitor({
      colorScheme,
      viewport: { width: 1_240, height: 900 },
    });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(path).href);
    expect(requests).toEqual([pathToFileURL(path).href]);
    expect(complaints).toEqual([]);
    expect(await page.locator('svg').count()).toBe(6);
    expect(readFileSync(path, 'utf8')).not.toContain(HOSTILE);
    expect(await page.locator('.findings').allInnerTexts()).toEqual(
      colorScheme === 'light' ? [] : ['card.events.v1: PAYMENTWITHAGAP1 lacks version 1'],
    );
    if (colorScheme === 'light') await keepPicture(page, 'analytics');
    for (const width of [1_240, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    await context.close();
  },
);
