import type { Member, ReplicaSet } from '@gateway/testing';
import { openReplicaSet, until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { CREDENTIALS, startEdgeFixture } from './edge-fixture';

const CARDS = '/api/pf/host-to-host';
const PAYOUTS = '/api/mp/payout';
const PAYOUT_CHECK = '/api/mp/transaction';
const JSON_TYPE = { 'content-type': 'application/json' };
/**
 * An election begins 10 s after the primary was last heard of. Where it was frozen, the other secondary then still waits
 * for it as its source, and until that gives up nothing has a majority: half a minute and more on a busy machine.
 */
const RECOVERY_MS = 150_000;

let set: ReplicaSet;
beforeAll(async () => (set = await openReplicaSet()), 120_000);
afterAll(() => set.close(), 60_000);

let count = 0;
const nextId = (): string => `failover-order-${(count += 1)}`;
const sale = (more: object = {}) => ({
  transaction_type: 'SALE',
  transaction_unique_id: nextId(),
  amount: '10.00',
  currency: 'XTS',
  card_number: '4111111111111111',
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
const payout = () => ({
  method: 'init',
  transaction_unique_id: nextId(),
  amount: '12.34',
  currency: 'XTS',
  callback_url: 'https://shop.example/payouts',
  type: 'sepa',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 7',
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function send(edge: EdgeFixture, fields: object, path = CARDS): Promise<Answer> {
  const { status, text } = await edge.request('POST', path, JSON.stringify({ ...CREDENTIALS, ...fields }), JSON_TYPE);
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

async function primaryOf(edge: EdgeFixture): Promise<Member> {
  const { db } = edge.mongo.mongoose;
  const hello = await db?.admin().command({ hello: 1 });
  const port = Number(String(hello?.['primary']).split(':')[1]);
  const member = set.mongo.find((candidate) => candidate.port === port);
  if (member === undefined) throw new Error(`no member listens on ${port}`);
  return member;
}

const succeeds = (edge: EdgeFixture) =>
  until('a SALE succeeds', async () => (await send(edge, sale())).body['code'] === 0, RECOVERY_MS);

describe('while a new primary is elected, requests under way wait and succeed', () => {
  let edge: EdgeFixture;
  beforeAll(async () => {
    edge = await startEdgeFixture('edge-failover', {
      MONGODB_URI: set.mongoUri,
      REPLY_TIMEOUT_MS: String(RECOVERY_MS),
    });
  });
  afterAll(() => edge.close());
  let repair = async (): Promise<void> => undefined;
  afterEach(() => repair(), RECOVERY_MS);

  test.each(['freeze', 'kill'] as const)(
    '%s: none of them is answered with 11',
    async (fault) => {
      await succeeds(edge);
      const primary = await primaryOf(edge);
      repair = () => (fault === 'freeze' ? primary.thaw() : primary.start());
      // New cards, so that the fault hits every write of a request.
      const cards = Array.from({ length: 75 }, (_, index) => sale({ card_holder: `Ann ${fault} ${index}` }));
      const published = edge.owner.commands.length;
      const before = cards.slice(0, 60).map((fields) => send(edge, fields));
      // Once the driver has noticed a killed primary, nothing is accepted any more.
      await until('the first of them is accepted', () => edge.owner.commands.length > published);
      const ended = primary[fault]();
      const after = [...cards.slice(60), payout(), payout()].map((fields) =>
        send(edge, fields, 'method' in fields ? PAYOUTS : CARDS),
      );
      const answers = await Promise.all([...before, ...after]);
      await ended;
      // Requests after the loss of the primary was noticed were refused before they did anything.
      const accepted = answers.filter(({ status }) => status !== 503);
      expect(accepted.map(({ body }) => body['code'])).toEqual(accepted.map(() => 0));
      expect(accepted.length).toBeGreaterThan(0);

      await succeeds(edge);
      for (const { body } of accepted.filter(({ body }) => body['status'] === 'success')) {
        const found = await send(edge, { transaction_type: 'CHECK', reference: body['reference'] });
        expect(found.body).toMatchObject({ transactions: [{ reference: body['reference'], status: 'SUCCESS' }] });
      }
      const references = edge.owner.commands.map(({ data }) => data.transactionUniqueId);
      expect(new Set(references).size).toBe(references.length);
    },
    2 * RECOVERY_MS,
  );
});

test(
  'without a majority until the deadline, a request answered with 11 ends as ERROR 11 and never runs',
  async () => {
    const edge = await startEdgeFixture('edge-late', { MONGODB_URI: set.mongoUri, REPLY_TIMEOUT_MS: '2000' });
    const primary = await primaryOf(edge);
    const secondaries = set.mongo.filter((member) => member !== primary);
    try {
      const { token } = (await send(edge, sale())).body;
      expect(token).toEqual(expect.any(String));
      const { card_number: _n, card_exp_month: _m, card_exp_year: _y, cvv: _c, ...charge } = sale();
      // The primary accepts inserts that no secondary ever acknowledges.
      await Promise.all(secondaries.map((member) => member.freeze()));
      edge.owner.answers = [{ status: 'error', code: 11 }];
      const known = edge.owner.commands.length;
      // Neither of them writes anything before its journal entry.
      const [card, paid] = await Promise.all([send(edge, { ...charge, token }), send(edge, payout(), PAYOUTS)]);
      for (const { status, body } of [card, paid]) {
        expect([status, body]).toEqual([200, expect.objectContaining({ status: 'error', code: 11 })]);
      }
      expect(edge.owner.commands).toHaveLength(known);
      await Promise.all(secondaries.map((member) => member.thaw()));

      const { reference } = card.body;
      const record = await until(
        'the final error',
        async () => {
          edge.pass(1_000);
          const { body } = await send(edge, { transaction_type: 'CHECK', reference });
          const [found] = (body['transactions'] ?? []) as { status: string }[];
          return found?.status === 'ERROR' && found;
        },
        RECOVERY_MS,
      );
      expect(record).toMatchObject({ code: 11, reference });
      // The payout's insert has succeeded after all, but CHECK did not know it for a while.
      const payoutCheck = { transaction_type: 'CHECK', reference: paid.body['reference'] };
      await until('the payout is abandoned', async () => {
        const { body } = await send(edge, payoutCheck, PAYOUT_CHECK);
        const [found] = (body['transactions'] ?? []) as { status: string }[];
        return found?.status === 'ERROR';
      });
      expect(edge.owner.payouts.commands).toEqual([]);
    } finally {
      await Promise.all(secondaries.map((member) => member.thaw()));
      await edge.close();
    }
  },
  2 * RECOVERY_MS,
);
