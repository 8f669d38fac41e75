import { topicOf } from '@gateway/messaging';
import { until } from '@gateway/testing';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, recordsOf, startSystem } from './support/system';
import { publishAgain, readTopics } from './support/topics';

/** An account has half of the calls at once, and as many may wait. */
const CALLS_AT_ONCE = 8;
const SHARE = CALLS_AT_ONCE / 2;
const UNANSWERED = 3 * SHARE;
const VICTIM = { merchant_account: 'demo_custom' };

let system: System;
beforeAll(async () => {
  system = await startSystem('neighbours', {
    settings: { ACQUIRER_CALLS_AT_ONCE: String(CALLS_AT_ONCE), SIMULATOR_TIMEOUT_MS: '20000' },
  });
});
afterAll(() => system.stop());

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

async function callsUnderWay(): Promise<number> {
  const pages = (await system.metrics()).join('\n');
  return Number(/gateway_outbound_in_use\{[^}]*lane="merchants"[^}]*\} (\d+)/.exec(pages)?.[1]);
}

function commandsSoFar() {
  return readTopics(system.space, [topicOf(system.space.topicPrefix, 'cardCommands')]);
}

/** An edge without a partition for replies asks for outcomes, seconds later: by then a hung call may be resolved. */
async function repliesReachTheEdge(): Promise<boolean> {
  await send(cardRequest('SALE'));
  const commands = await commandsSoFar();
  return commands.some(({ headers }) => headers['reply_partition'] !== undefined);
}

test('calls that an acquirer never answers hold up their own account only', async () => {
  await until('replies reach the edge', repliesReachTheEdge);
  const sent = Array.from({ length: UNANSWERED }, () => send(cardRequest('SALE', { amount: '31.09' })));
  await until('the share of the account hangs', async () => (await callsUnderWay()) === SHARE);
  // As after a crash before the commit.
  await publishAgain(system.space, await commandsSoFar());

  for (let times = 0; times < 2 * CALLS_AT_ONCE; times += 1) {
    expect(await send(cardRequest('SALE', VICTIM))).toMatchObject({ status: 'success', code: 0 });
  }
  // All of them were answered beside calls that still hang.
  expect(await callsUnderWay()).toBe(SHARE);

  const answers = await Promise.all(sent);
  const codes = answers.map(({ code }) => Number(code)).sort();
  expect(codes).toEqual([...Array<number>(SHARE).fill(3109), ...Array<number>(UNANSWERED - SHARE).fill(3118)]);
  for (const answer of answers) {
    const { reference, code } = answer;
    const effects = (await system.ledger(String(reference))).map(({ effect }) => effect);
    if (code === 3109) {
      // Redelivered while it was under way, and called once.
      expect(effects).toEqual(['sold']);
      continue;
    }
    expect(answer).toMatchObject({ status: 'error', authcode: null });
    expect(effects).toEqual([]);
    expect(recordsOf(await send(checkOf({ reference })))).toMatchObject([{ status: 'ERROR', code: 3118 }]);
  }
});
