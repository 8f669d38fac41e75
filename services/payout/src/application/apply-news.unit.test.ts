import { payoutEvents, PayoutOutcome, validatorOf } from '@gateway/contracts';
import { createHandle } from '@gateway/mongo';
import { noTracer } from '@gateway/service-kit';
import { memoryStore, silentLogger } from '@gateway/testing';
import type { Payout } from '../domain/payout';
import { evolve } from '../domain/payout';
import { inState, NOW, request } from '../domain/payouts.fixture';
import { announce } from './announcements';
import { applyNews } from './apply-news';
import { outcomeOf } from './outcome';
import type { Ports } from './ports';

const { reference } = request;

function world() {
  const store = memoryStore<Payout>({ ...inState.settled, _id: reference, version: 1, eventSeq: 0, outbox: [] });
  const handle = createHandle({
    ...{ store, evolve, announce, publish: () => undefined, now: () => NOW, newId: () => 'id' },
  });
  const ports = { handle, now: () => NOW, tracer: noTracer, logger: silentLogger } as unknown as Ports;
  return { ports, stored: () => store.documents.get(reference) };
}

test.each([
  ['AC04', 'AC04'],
  ['R'.repeat(35), 'R'.repeat(35)],
  ['R'.repeat(36), 'NARR'],
])('a return for the reason %s can be told, however often the bank reports it', async (reasonCode, told) => {
  const { ports, stored } = world();
  const news = { reference, outcome: { kind: 'returned', reasonCode } } as const;
  expect(await applyNews(ports, 'simulator', news)).toBe('applied');
  expect(await applyNews(ports, 'simulator', news)).toBe('applied');
  const payout = stored();
  expect(payout?.state).toEqual({ kind: 'returned', reasonCode: told });
  expect(payout?.outbox).toHaveLength(1);
  expect(payout?.outbox[0]).toMatchObject({ type: 'PayoutReturned', data: { returnReason: told } });
  expect(payoutEvents.PayoutReturned.problem(payout?.outbox[0]?.data)).toBeUndefined();
  expect(validatorOf(PayoutOutcome, 'outcome').problem(payout && outcomeOf(payout))).toBeUndefined();
});
