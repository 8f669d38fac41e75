import type { Random } from '../random';
import type { Answer } from './answers';
import { authenticate, authenticateClassically } from './cardholder';
import type { MerchantClient } from './merchant-client';
import { pause } from './merchant-client';
import type { Notebook } from './notebook';
import type { Fields } from './requests';
import { CHALLENGED_CARD, FRICTIONLESS_CARD, payoutFields, withCard, withToken, xts } from './requests';

/** What a merchant needs to work. */
export interface Shop {
  client: MerchantClient;
  cardNumber: string;
  /** Base URL of its receiver. */
  url: string;
  /** A terminal whose holds end within seconds. */
  shortHoldTerminal: string;
  random: Random;
  notebook: Notebook;
}

/** One scenario, from start to end. */
export type Scenario = (shop: Shop) => Promise<unknown>;

const PLAIN = '12.50';
/** decisions.md, section 3: for these amounts the bank misbehaves and the outcome is resolved later. */
const UNKNOWN_OUTCOMES = ['31.09', '31.17', '31.18', '31.24', '31.25', '31.33'] as const;
const DECLINES = ['31.01', '31.04', '32.00'] as const;
/** For these amounts the AUTH is approved and its VOID misbehaves. */
const UNKNOWN_VOIDS = ['41.09', '41.24', '41.33'] as const;

const card = ({ cardNumber }: Shop): Fields => withCard(cardNumber);
const sale = (shop: Shop, amount: string = PLAIN) => shop.client.send('SALE', { ...card(shop), ...xts(amount) });
const isSuccess = (answer: Answer | undefined): answer is Answer & { reference: string } =>
  answer?.status === 'success' && answer.reference !== undefined;

async function auth(shop: Shop, more: Fields = {}): Promise<string | undefined> {
  const answer = await shop.client.send('AUTH', { ...card(shop), ...xts(PLAIN), ...more });
  return isSuccess(answer) ? answer.reference : undefined;
}

function followUp(shop: Shop, type: 'SETTLE' | 'VOID' | 'REFUND', reference: string, amount: string = PLAIN) {
  const money = type === 'VOID' ? {} : xts(amount);
  return shop.client.send(type, { reference, ...money }, { baseReference: reference });
}

async function saleByToken(shop: Shop): Promise<void> {
  const { card_number, card_exp_month, card_exp_year, card_holder } = card(shop);
  const tokenized = await shop.client.send('TOKENIZE', { card_number, card_exp_month, card_exp_year, card_holder });
  if (tokenized?.token !== undefined) await shop.client.send('SALE', { ...withToken(tokenized.token), ...xts(PLAIN) });
}

async function settled(shop: Shop): Promise<void> {
  const reference = await auth(shop);
  if (reference === undefined) return;
  const answer = await followUp(shop, 'SETTLE', reference, shop.random.chance(0.2) ? unknownAmount(shop) : PLAIN);
  if (isSuccess(answer) && shop.random.chance(0.4)) await followUp(shop, 'REFUND', answer.reference);
}

/** An amount with an unknown outcome. A settlement may be less than the hold. */
function unknownAmount({ random }: Shop): string {
  return random.chance(0.5) ? '0.01' : '12.49';
}

async function voided(shop: Shop): Promise<void> {
  const amount = shop.random.chance(0.3) ? shop.random.pick(UNKNOWN_VOIDS) : PLAIN;
  const reference = await auth(shop, xts(amount));
  if (reference !== undefined) await followUp(shop, 'VOID', reference);
}

/** Two settlements and a void of one hold at once: one of them succeeds. */
async function raced(shop: Shop): Promise<void> {
  const reference = await auth(shop);
  if (reference === undefined) return;
  const types = shop.random.shuffle(['SETTLE', 'SETTLE', 'VOID'] as const);
  await Promise.all(types.map((type) => followUp(shop, type, reference)));
}

async function refunded(shop: Shop): Promise<void> {
  const answer = await sale(shop);
  if (!isSuccess(answer)) return;
  const { reference } = answer;
  const times = shop.random.int(1, 3);
  await Promise.all(Array.from({ length: times }, () => followUp(shop, 'REFUND', reference, '5.00')));
}

/** The hold expires, or is settled at the last moment. */
async function leftToExpire(shop: Shop): Promise<void> {
  const reference = await auth(shop, { mid_reference: shop.shortHoldTerminal });
  if (reference === undefined || shop.random.chance(0.5)) return;
  await pause(shop.random.int(2_000, 6_000));
  await followUp(shop, 'SETTLE', reference);
}

async function sale3d(shop: Shop): Promise<void> {
  const { random, url } = shop;
  const frictionless = random.chance(0.4);
  const amount = random.chance(0.2) ? random.pick(UNKNOWN_OUTCOMES) : PLAIN;
  const answer = await shop.client.send('SALE3D', {
    ...withCard(frictionless ? FRICTIONLESS_CARD : CHALLENGED_CARD),
    ...xts(amount),
    callback_url: `${url}/callback/card`,
    redirect_url: `${url}/back`,
  });
  // One cardholder in ten leaves.
  if (answer?.acs_url === undefined || random.chance(0.1)) return;
  const choice = random.chance(0.85) ? 'success' : random.pick(['failure', 'cancel'] as const);
  if (!(await authenticate(answer.acs_url, choice, url))) shop.notebook.trouble('a cardholder did not come back');
}

/** One or two operations use the same proof. Only one may succeed. */
async function auth3dAndSale(shop: Shop): Promise<void> {
  const { random, url } = shop;
  const number = random.chance(0.5) ? FRICTIONLESS_CARD : CHALLENGED_CARD;
  const first = await shop.client.send('AUTH3D', { ...withCard(number), ...xts(PLAIN) });
  const { acs_url, pareq, reference } = first ?? {};
  if (acs_url === undefined || pareq === undefined || reference === undefined) return;
  const pares = await authenticateClassically({ acs_url, pareq, reference }, 'success', url);
  if (pares === undefined) return shop.notebook.trouble('a cardholder did not come back');
  const proven = { ...withCard(number), ...xts(PLAIN), pares, reference };
  const times = random.int(1, 2);
  const type = random.pick(['SALE', 'AUTH'] as const);
  await Promise.all(Array.from({ length: times }, () => shop.client.send(type, proven, { baseReference: reference })));
}

async function asked(shop: Shop): Promise<void> {
  const own = shop.notebook.operations.filter(({ merchant }) => merchant === shop.client.merchant);
  if (own.length > 0) await shop.client.check(shop.random.pick(own.slice(-20)));
}

/** CHECK must confirm an answer at once. */
async function saleAndAsked(shop: Shop): Promise<void> {
  const answer = await sale(shop);
  const operation = shop.notebook.operations.findLast(({ reference }) => reference === answer?.reference);
  if (isSuccess(answer) && operation !== undefined) await shop.client.check(operation);
}

const paid = (shop: Shop, amount: string) => shop.client.pay(payoutFields(amount, `${shop.url}/callback/payout`));

/** All scenarios. */
export const SCENARIOS = {
  sale: (shop) => sale(shop),
  saleByToken,
  settled,
  voided,
  raced,
  refunded,
  leftToExpire,
  sale3d,
  auth3dAndSale,
  saleSentTwice: (shop) => shop.client.send('SALE', { ...card(shop), ...xts(PLAIN) }, { twice: true }),
  unknownSale: (shop) => sale(shop, shop.random.pick(UNKNOWN_OUTCOMES)),
  declinedSale: (shop) => sale(shop, shop.random.pick(DECLINES)),
  paid: (shop) => paid(shop, PLAIN),
  unknownPayout: (shop) => paid(shop, shop.random.pick(UNKNOWN_OUTCOMES)),
  asked,
  saleAndAsked,
} as const satisfies Record<string, Scenario>;

/** Frequency of each scenario. */
export type Business = Partial<Record<keyof typeof SCENARIOS, number>>;

/** Percentages. */
export const BUSINESS: Business = {
  sale: 18,
  saleByToken: 8,
  settled: 10,
  voided: 6,
  raced: 7,
  refunded: 8,
  leftToExpire: 5,
  sale3d: 9,
  auth3dAndSale: 5,
  saleSentTwice: 3,
  unknownSale: 4,
  declinedSale: 2,
  paid: 9,
  unknownPayout: 2,
  asked: 2,
  saleAndAsked: 2,
};

/** Runs a merchant's scenarios one after the other, with pauses, until stopped. */
export async function work(
  shop: Shop,
  options: { business: Business; thinkMs: number; stopping: () => boolean },
): Promise<void> {
  const weights = Object.entries(options.business) as [keyof typeof SCENARIOS, number][];
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  while (!options.stopping()) {
    let left = shop.random.next() * total;
    const [name] = weights.find(([, weight]) => (left -= weight) < 0) ?? ['asked' as const];
    await SCENARIOS[name](shop);
    await pause(shop.random.next() * 2 * options.thinkMs);
  }
}
