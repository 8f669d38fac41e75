import { setImmediate as whenOthersWait } from 'node:timers/promises';
import type { AxiosResponse } from 'axios';
import { Secret } from '@gateway/contracts';
import { createHandle } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import { memoryStore } from '@gateway/testing';
import type { CardData } from '@gateway/vault';
import { CVV_KEY_WAIT_MS } from '@gateway/vault';
import type { AcquirerTranslation } from '../adapters/acquirers/acquirer';
import { openAcquirer } from '../adapters/acquirers/acquirer';
import { deadlineOf } from '../domain/decide';
import { SALE_WITHIN_MS } from '../domain/decide-authentication';
import type { Payment } from '../domain/payment';
import { evolve, findOperation } from '../domain/payment';
import {
  authenticated,
  HOLD_SECONDS,
  NOW,
  PAYMENT_ID,
  PAYMENTS,
  purchaseCommand,
  ref,
  ROUTE,
  settle,
  threedsEvent,
} from '../domain/payments.fixture';
import { announce } from './announcements';
import { callAcquirer } from './call-acquirer';
import type { Ports, StoredPayment } from './ports';
import { processAuthentication } from './process-authentication';
import { processCommand } from './process-command';

/** Early enough for the leases of the calls. */
const DEADLINE = NOW + 1_500;
/** Another call of the same account. */
const OTHER = 'OTHER';
const CARD = new Secret<CardData>({ pan: '4111111111111111', expMonth: '12', expYear: '2030', holder: 'Ann Lee' });

/** One payment, an acquirer with one place per account, and a clock that advances during waits. */
function world(payment: Payment) {
  const first: StoredPayment = { _id: PAYMENT_ID, ...payment, route: ROUTE, version: 1, eventSeq: 1, outbox: [] };
  const store = memoryStore(first);
  const stored = (): StoredPayment => store.documents.get(PAYMENT_ID) ?? first;
  let now = NOW;
  const sent: string[] = [];
  let answerOther = (): void => undefined;
  const otherAnswered = new Promise<void>((resolve) => (answerOther = resolve));
  const begun: Promise<void>[] = [];
  const translation = {
    baseUrl: 'http://127.0.0.1:9',
    timeoutMs: 1_000,
    operate: async (_http, _operation, { reference }) => {
      sent.push(reference);
      if (reference === OTHER) await otherAnswered;
      return {} as AxiosResponse<unknown>;
    },
    answerIn: () => ({ kind: 'approved', authcode: 'A1B2C3', bank: {} }),
  } as Partial<AcquirerTranslation> as AcquirerTranslation;
  const metrics = createMetrics('test', { processFigures: false });
  const connector = openAcquirer('simulator', translation, { callsAtOnce: 2, metrics });
  const waitUntil = (ms: number): void => void (now = ms);
  let replyMs = 0;
  let sentBesideReply: string[] = [];
  let vaultTakesUntil = NOW;
  const afterVault = async <T>(value: T): Promise<T> => {
    waitUntil(Math.max(now, vaultTakesUntil));
    return value;
  };
  const ports = {
    payments: store,
    handle: createHandle({ store, evolve, announce, publish: () => undefined, now: () => now, newId: () => 'id' }),
    cards: {
      getCard: () => afterVault(CARD),
      takeCvv: () => afterVault(new Secret('123')),
      dropCvv: async () => undefined,
    },
    accounts: { find: async () => undefined },
    connector: () => connector,
    calls: {
      begin: async (work: () => Promise<void>) => {
        begun.push(work());
      },
    },
    // Time passes once nothing else can run, so that it delays only what waits for the reply.
    reply: async () => {
      await whenOthersWait();
      sentBesideReply = [...sent];
      waitUntil(now + replyMs);
    },
    now: () => now,
    recovery: { current: () => undefined, mayHaveBeenHandled: () => false, notice: () => Promise.resolve() },
    holdSeconds: HOLD_SECONDS,
    logger: { warn: () => undefined, error: () => undefined },
  } as unknown as Ports;
  return {
    ports,
    connector,
    sent,
    waitUntil,
    answerOther,
    stored,
    vaultTakesUntil: (ms: number) => void (vaultTakesUntil = ms),
    sentBesideReply: () => sentBesideReply,
    replyTakes: (ms: number) => void (replyMs = ms),
    done: () => Promise.all(begun),
    operation: (name: string) => findOperation(stored(), ref(name)),
  };
}

describe.each([
  ['in time', DEADLINE, 'success', 0],
  ['too late', DEADLINE + 1, 'error', 11],
])('a command that is %s when', (_name, at, status, code) => {
  test('the vault has given its CVV', async () => {
    const { ports, stored, sent, vaultTakesUntil, operation } = world(PAYMENTS.charging);
    vaultTakesUntil(at);
    await callAcquirer(ports, stored(), {
      request: { amountE4: 1, withCvv: true, card: CARD },
      causationId: 'cause',
      deadline: deadlineOf(purchaseCommand('ChargeCard', { deadline: DEADLINE })),
    });
    expect(operation('SALE')).toMatchObject({ status, code });
    expect(sent).toEqual(code === 0 ? [ref('SALE')] : []);
  });

  test('it gets its place among the calls', async () => {
    const { ports, sent, connector, waitUntil, answerOther, done, operation } = world(PAYMENTS.authorized);
    const other = connector.operate('sale', {
      reference: OTHER,
      merchantAccount: 'merchant',
      currency: 'XTS',
      midReference: ROUTE.midReference,
    });
    const command = settle();
    command.data.deadline = DEADLINE;
    await processCommand(ports, { command, id: 'message', correlationId: 'trace' });
    waitUntil(at);
    answerOther();
    await other;
    await done();
    expect(operation('SETT')).toMatchObject({ status, code });
    expect(sent).toEqual(code === 0 ? [OTHER, ref('SETT')] : [OTHER]);
  });
});

test.each([
  ['in time', DEADLINE, 'success', 0],
  ['too late', DEADLINE + 1, 'error', 3024],
])('the sale of a SALE3D that is %s when the vault has given its card', async (_name, at, status, code) => {
  const asked = PAYMENTS['SALE3D asked for'];
  const { ports, sent, vaultTakesUntil, done, operation } = world(asked);
  vaultTakesUntil(at);
  const occurredAt = DEADLINE - SALE_WITHIN_MS;
  const event = threedsEvent('CardholderAuthenticated', 'SA3D', { ...authenticated, occurredAt });
  await processAuthentication(ports, event, 'cause');
  await done();
  expect(operation('SA3D')).toMatchObject({ status, code });
  expect(sent).toEqual(code === 0 ? [ref('SA3D')] : []);
});

describe('the sale of a SALE3D without a challenge, while the edge waits for the first answer, when', () => {
  const asked = PAYMENTS['SALE3D asked for'];
  const event = threedsEvent('CardholderAuthenticated', 'SA3D', { ...authenticated, challenged: false });
  const replyTo = { partition: 3, correlationId: 'trace', causationId: 'message' };

  function waiting(withCvv: boolean) {
    const { customer } = asked.awaiting ?? {};
    if (customer === undefined) throw new Error('nobody is being authenticated');
    return world({ ...asked, awaiting: { customer, withCvv, replyTo } });
  }

  test.each([
    ['without CVV, the reply takes 10 ms', false, 10],
    ['without CVV, the reply takes 5,000 ms', false, 5_000],
    ['with CVV, the reply takes 5,000 ms', true, 5_000],
  ])('%s', async (_what, withCvv, replyMs) => {
    const { ports, sent, sentBesideReply, replyTakes, done, operation } = waiting(withCvv);
    replyTakes(replyMs);
    await processAuthentication(ports, event, 'cause');
    await done();
    expect(operation('SA3D')).toMatchObject({ status: 'success', code: 0 });
    expect(sentBesideReply()).toEqual([ref('SA3D')]);
    expect(sent).toEqual([ref('SA3D')]);
  });

  test('the reply fails', async () => {
    const { ports, sent, done, operation } = waiting(true);
    const find = jest.fn<Promise<undefined>, []>().mockResolvedValue(undefined);
    find.mockRejectedValueOnce(new Error('no primary'));
    const warn = jest.fn();
    const failing = { ...ports, accounts: { find }, logger: { ...ports.logger, warn } };
    await processAuthentication(failing, event, 'cause');
    await done();
    expect(operation('SA3D')).toMatchObject({ status: 'success', code: 0 });
    expect(sent).toEqual([ref('SA3D')]);
    expect(warn).toHaveBeenCalledWith('a reply is lost; the edge will ask', expect.anything());
  });
});

describe.each([
  ['a moment before', 0, 'success', 0],
  ['when', 1, 'error', 11],
])('a call whose intent was written %s it could outlast its lease', (_name, lateByMs, status, code) => {
  test.each([
    ['of a merchant', { deadline: deadlineOf(settle()) }],
    ['for an expired hold, which has no deadline,', {}],
  ])('%s', async (_who, context) => {
    const { ports, connector, stored, sent, waitUntil, operation } = world(PAYMENTS.settling);
    waitUntil((stored().resolveAt ?? 0) - connector.callMs + lateByMs);
    await callAcquirer(ports, stored(), { request: {}, causationId: 'cause', ...context });
    expect(operation('SETT')).toMatchObject({ status, code });
    expect(sent).toEqual(code === 0 ? [ref('SETT')] : []);
  });
});

test('nobody else looks for the outcome of a call while it waits for the key of its CVV', async () => {
  const { ports, connector, stored, done } = world(PAYMENTS['SALE3D asked for']);
  let lookedForAt: number | undefined;
  const takeCvv = async () => {
    lookedForAt = stored().resolveAt;
    return new Secret('123');
  };
  const cards = { ...ports.cards, takeCvv };
  await processAuthentication(
    { ...ports, cards },
    threedsEvent('CardholderAuthenticated', 'SA3D', authenticated),
    'cause',
  );
  await done();
  expect(lookedForAt).toBeGreaterThan(NOW + CVV_KEY_WAIT_MS + connector.longestCallMs);
});
