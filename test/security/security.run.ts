import { until } from '@gateway/testing';
import { findCardData } from '../support/card-data-search';
import { attackAddresses } from './attacks/addresses';
import { attackAuditLog } from './attacks/audit-log';
import { attackWithBrackets } from './attacks/brackets';
import { SENT_CARD_DATA, seedCardData } from './attacks/card-data';
import { attackCardNumbers } from './attacks/card-numbers';
import { attackCheckout } from './attacks/checkout-replay';
import { attackCommands } from './attacks/commands';
import { attackFraming } from './attacks/framing';
import { attackBodies } from './attacks/fuzz';
import { attackHeadersAndLogs } from './attacks/injection';
import { attackPasswords } from './attacks/passwords';
import { attackWithPipelines } from './attacks/pipelining';
import { attackSignatures } from './attacks/signatures';
import { everythingWritten } from './places';
import type { World } from './world';
import { openWorld, SERVICE_NAMES } from './world';

const SEEDS = 1_000_000;
/** Far above what a service has, far below the number of bodies. */
const METRIC_LINES_MAX = 3_000;
/** The ids of keys are shorter. */
const KEY_LENGTH_MIN = 32;
const seed = Number(process.env['SECURITY_SEED'] ?? Math.floor(Math.random() * SEEDS));

let opened: World | undefined;
function world(): World {
  if (opened === undefined) throw new Error('the gateway has not started');
  return opened;
}

beforeAll(async () => {
  opened = await openWorld();
}, 180_000);
afterAll(() => opened?.close());

describe('addresses of callbacks and redirects', () => attackAddresses(world));
describe('signatures and proofs', () => attackSignatures(world));
describe('card-entry forms', () => attackCheckout(world));
describe('messages of HTTP', () => attackFraming(world));
describe('the hidden digits of a card', () => attackCardNumbers(world));
describe('card data in every place', () => seedCardData(world));
describe('requests sent together', () => attackWithPipelines(world));
describe('bodies of brackets', () => attackWithBrackets(world));
describe('bodies', () => attackBodies(world, seed));
describe('commands of others', () => attackCommands(world));
describe('guessed passwords', () => attackPasswords(world));
describe('the audit log', () => attackAuditLog(world));
describe('headers, pages and logs', () => attackHeadersAndLogs(world));

describe('after all attacks', () => {
  let written: Map<string, string>;

  beforeAll(async () => {
    const payments = world().storage.collection('cards', 'payments');
    await until(
      'the end of all events',
      async () => (await payments.countDocuments({ outboxSince: { $exists: true } })) === 0,
    );
    written = await everythingWritten(world());
  }, 60_000);

  test('the search reads all databases, topics, logs, metrics and answers', () => {
    for (const place of [
      'vault.cards',
      'vault.cvvs',
      'vault.numbers',
      'accounts.accounts',
      'edge.journal',
      'edge.checkouts',
      'cards.payments',
      'threeds.authentications',
      'payouts.payouts',
      'callbacks.deliveries',
      'callbacks.attempts',
      'card.commands.v1',
      'card.events.v1',
      'gateway.replies.v1',
      'threeds.commands.v1',
      'threeds.events.v1',
      'payout.commands.v1',
      'payout.events.v1',
      'callback.events.v1',
      'answers',
      'callbacks',
      ...SERVICE_NAMES.flatMap((name) => [`the log of ${name}`, `the metrics of ${name}`]),
    ]) {
      expect([place, (written.get(place) ?? '').length > 0]).toEqual([place, true]);
    }
    // The first six digits and a mask: the numbers have come this far.
    expect([...written.values()].some((text) => text.includes('492942******'))).toBe(true);
  });

  test('no card number and no CVV is anywhere, raw or encoded', () => {
    expect(findCardData(written, SENT_CARD_DATA)).toEqual([]);
  });

  test('nothing that was sent has become a label of a metric', () => {
    for (const name of SERVICE_NAMES) {
      const lines = (written.get(`the metrics of ${name}`) ?? '').split('\n');
      expect([name, lines.length < METRIC_LINES_MAX]).toEqual([name, true]);
    }
  });

  test('no password or key is anywhere', () => {
    const named = Object.entries(world().env).filter(([name]) => /_KEYS?$/.test(name) && !name.includes('PUBLIC'));
    const keys = named.flatMap(([, value]) => value.split(/[,:]/)).filter((part) => part.length >= KEY_LENGTH_MIN);
    expect(keys.length).toBeGreaterThan(5);
    for (const [place, text] of written) {
      for (const secret of ['demo_password', 'demo_payout_secret', ...keys]) {
        expect([place, text.includes(secret)]).toEqual([place, false]);
      }
    }
  });

  test('every service ends as it should, and nothing that objects inherit has changed', async () => {
    for (const name of SERVICE_NAMES.toReversed()) {
      const service = world().services.get(name);
      expect([name, await service?.end('SIGTERM')]).toEqual([name, 0]);
      expect([name, service?.output()]).toEqual([name, expect.stringContaining('prototypes unchanged')]);
    }
  }, 60_000);
});
