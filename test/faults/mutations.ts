import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './injection/schedule';
import { inject } from './injection/inject';
import type { Business } from './merchants/merchant';
import type { Scene } from './run';
import type { ServiceName } from './world/world';

/** A text of one built file, which it must have exactly once, and what stands there instead. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** A guard that is switched off, and the short run that its absence must show in. */
export interface Mutation {
  /** What is switched off. */
  guard: string;
  edits: readonly Edit[];
  /** Makes a window wider that is there without it, so that a run of seconds hits it. */
  delays?: readonly Edit[];
  services: readonly ServiceName[];
  business: Business;
  settings?: Record<string, string>;
  seconds: number;
  faults?(scene: Scene): Promise<void>;
  /** One of these has to fail. */
  caughtBy: readonly string[];
}

const CARDS = ['api-edge', 'card-processing'] as const;
const CARDS_3D = [...CARDS, 'threeds', 'callback-dispatcher'] as const;
const PAYOUTS = ['api-edge', 'payout', 'callback-dispatcher'] as const;

const BANK_KNOWS = 'every success is known to the bank';
const CHECK_TELLS = 'CHECK tells of all money that moved';
const NOT_TWICE = 'nothing is charged, settled, refunded, or paid twice';
const ASKED_ONCE = 'banks are asked once, and only for what they may do';
const IN_TIME = 'nothing runs after its deadline';
const TERMINAL = 'terminal states stay';
const ACCEPTED = 'CHECK knows every accepted request';
const CALLBACKS = 'every final callback is attempted, and signed';
const SEQUENCE = 'events are in sequence and complete';
const LEFT = 'nothing is left behind';
const VAULT = 'card data stays in the vault';

const PAUSE = 'await new Promise((resolve) => setTimeout(resolve, 1500));';

/** Long enough for a service that was killed to be a member of its group again, and at work. */
const FIRST_WORK_MS = 6_000;
const AT_WORK_MS = 12_000;

/** Kills a service again and again: both of its replicas, or the first one alone. */
function killing(service: ServiceName, times: number, which: 'both' | 'first' = 'both') {
  return async ({ world }: Scene): Promise<void> => {
    const victims = world.replicas(service).slice(0, which === 'both' ? undefined : 1);
    for (let time = 0; time < times; time += 1) {
      await wait(time === 0 ? FIRST_WORK_MS : AT_WORK_MS);
      for (const replica of victims) replica.kill();
      await Promise.all(victims.map((replica) => replica.untilReady()));
    }
  };
}

function once(fault: Fault, durationMs: number): (scene: Scene) => Promise<void> {
  return async (scene) => {
    await wait(3_000);
    await inject(scene, { ...fault, atMs: 0, durationMs });
  };
}

const CARD = 'card-processing/dist';

export const MUTATIONS: readonly Mutation[] = [
  {
    guard: 'version check of a conditional update',
    edits: [
      {
        file: 'mongo/dist/group-writes.js',
        find: 'filter: { _id: id, version }',
        replace: 'filter: { _id: id }',
      },
    ],
    services: CARDS,
    business: { raced: 3, refunded: 1 },
    seconds: 20,
    caughtBy: [SEQUENCE, LEFT, TERMINAL, CHECK_TELLS, NOT_TWICE, BANK_KNOWS],
  },
  {
    guard: 'reference as the idempotency key of a call',
    edits: [
      {
        file: `${CARD}/adapters/acquirers/simulator/connector.js`,
        find: "'idempotency-key': request.reference",
        replace: "'idempotency-key': `${request.reference}-${Date.now()}`",
      },
    ],
    services: CARDS,
    business: { unknownSale: 1 },
    seconds: 10,
    caughtBy: [CHECK_TELLS],
  },
  {
    guard: 'offsets committed after the write',
    edits: [
      {
        file: 'messaging/dist/work-queue.js',
        find: 'const watermarkOf = ({ topic, partition, watermark }) => ({ topic, partition, offset: watermark });',
        replace: 'const watermarkOf = ({ topic, partition, next }) => ({ topic, partition, offset: next });',
      },
    ],
    delays: [
      {
        file: 'callback-dispatcher/dist/application/accept-outcome.js',
        find: 'const stored = await ports.deliveries.insert',
        replace: `${PAUSE} const stored = await ports.deliveries.insert`,
      },
    ],
    services: PAYOUTS,
    business: { paid: 1 },
    seconds: 15,
    faults: killing('callback-dispatcher', 2),
    caughtBy: [CALLBACKS],
  },
  {
    guard: 'outcome committed before the reply',
    edits: [
      {
        file: `${CARD}/application/record.js`,
        find: ': await ports.payments.update(target.stored, body, announcements);',
        replace:
          ': (setTimeout(() => void ports.payments.update(target.stored, body, announcements), 4000),' +
          ' { ...target.stored, ...body, version: target.stored.version + 1 });',
      },
    ],
    services: CARDS,
    business: { saleAndAsked: 1 },
    seconds: 10,
    caughtBy: [TERMINAL],
  },
  {
    guard: 'events drained after their acknowledgement',
    edits: [
      {
        file: 'mongo/dist/outbox.js',
        find: 'await options.publish(owner._id, owner.outbox);',
        replace: 'setTimeout(() => void options.publish(owner._id, owner.outbox).catch(() => undefined), 1500);',
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 15,
    faults: killing('card-processing', 2),
    caughtBy: [SEQUENCE],
  },
  {
    guard: 'lease of a call',
    edits: [
      {
        file: `${CARD}/application/process-command.js`,
        find: 'resolveAt: known.now + (0, call_acquirer_1.callTimeoutMs)(ports, event.route ?? known.route)',
        replace: 'resolveAt: known.now',
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 15,
    faults: once({ kind: 'acquirer slow', manner: 'slow' }, 10_000),
    caughtBy: [ASKED_ONCE],
  },
  {
    guard: 'deadline of a command',
    edits: [
      { file: `${CARD}/domain/decide.js`, find: 'if (facts.now > command.data.deadline)', replace: 'if (false)' },
    ],
    services: CARDS,
    business: { sale: 1 },
    settings: { REPLY_TIMEOUT_MS: '2000' },
    seconds: 5,
    faults: once({ kind: 'service away', service: 'card-processing' }, 15_000),
    caughtBy: [IN_TIME],
  },
  {
    guard: 'single use of a proof',
    edits: [
      {
        file: `${CARD}/domain/proof.js`,
        find: "if (state.kind !== 'authenticated')",
        replace: "if (state.kind !== 'authenticated') return undefined; if (false)",
      },
      {
        file: `${CARD}/domain/payment.js`,
        find: "return mayBegin(state) || state.kind === 'authenticated';",
        replace: 'return true;',
      },
    ],
    services: CARDS_3D,
    business: { auth3dAndSale: 1 },
    seconds: 20,
    caughtBy: [NOT_TWICE],
  },
  {
    guard: 'callback recorded as delivered after its attempt',
    edits: [
      {
        file: 'callback-dispatcher/dist/application/attempt-delivery.js',
        find: 'await ports.attempts.begin(attempt);',
        replace: `await ports.attempts.begin(attempt);
          await recordResult(ports, stored, { httpStatus: 200, body: 'OK', durationMs: 0 }, true); ${PAUSE}`,
      },
    ],
    services: PAYOUTS,
    business: { paid: 1 },
    seconds: 15,
    faults: killing('callback-dispatcher', 2),
    caughtBy: [CALLBACKS],
  },
  {
    guard: 'journal before the bus',
    edits: [
      {
        file: 'api-edge/dist/application/offer.js',
        find: 'const insertion = await insertUntil(ports, entry, deadline);',
        replace: `if (entry.space === 'card') await ports.bus.publish(entry.command); ${PAUSE}
          const insertion = await insertUntil(ports, entry, deadline);`,
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 15,
    faults: killing('api-edge', 2),
    caughtBy: [CHECK_TELLS, ACCEPTED],
  },
  {
    guard: 'unique id of a request in the journal',
    edits: [
      {
        file: 'api-edge/dist/adapters/mongo/journal.js',
        find: 'transactionUniqueId: 1, attempt: 1 },\n                    name: INDEXES.uniqueId,\n                    unique: true,',
        replace: 'transactionUniqueId: 1, attempt: 1 },\n                    name: INDEXES.uniqueId,',
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    settings: { SIMULATOR_LATENCY_MS: '1000' },
    seconds: 15,
    faults: killing('api-edge', 3, 'first'),
    caughtBy: [NOT_TWICE],
  },
  {
    guard: 'recognition of a payout that is on record',
    edits: [
      {
        file: 'payout/dist/application/process-command.js',
        find: 'if (stored === undefined) {',
        replace: `if (stored === undefined && place !== undefined) {
            const known = await ports.payouts.load(reference);
            await ports.calls.begin(async () => void (await (0, submit_payout_1.submitPayout)(ports, known, place, received.id)));
            return;
          }
          if (stored === undefined) {`,
      },
    ],
    services: PAYOUTS,
    business: { paid: 1 },
    seconds: 10,
    faults: once({ kind: 'messages repeated' }, 0),
    caughtBy: [ASKED_ONCE],
  },
  {
    guard: 'recognition of an operation whose intent is stored',
    edits: [
      {
        file: `${CARD}/application/process-command.js`,
        find: 'return { payment: loaded, fresh: false };',
        replace: 'return { payment: loaded, pending: (loaded.pending ??= { reference, kind: "sale" }), fresh: true };',
      },
    ],
    services: CARDS,
    // A CVV is read once: what needs one is not called again.
    business: { saleByToken: 1 },
    seconds: 10,
    faults: once({ kind: 'messages repeated' }, 0),
    caughtBy: [ASKED_ONCE],
  },
  {
    guard: 'SETTLE respected by the end of a hold',
    edits: [
      {
        file: `${CARD}/domain/decide-expiry.js`,
        find: "if (state.kind !== 'authorized' || state.hold.reference !== ask.reference)",
        replace: "if (!['authorized', 'charged'].includes(state.kind) || state.hold?.reference !== ask.reference)",
      },
    ],
    delays: [
      {
        file: 'auth-expiry/dist/adapters/mongo/deadlines.js',
        find: 'end: (reference) => bury(reference),',
        replace:
          'end: async (reference) => { await new Promise((resolve) => setTimeout(resolve, 15000)); await bury(reference); },',
      },
    ],
    services: [...CARDS, 'auth-expiry'],
    business: { settled: 1 },
    settings: { AUTH_HOLD_SECONDS: '8' },
    seconds: 20,
    caughtBy: [NOT_TWICE, ASKED_ONCE],
  },
  {
    guard: '"not found" confirmed by a cancellation',
    edits: [
      {
        file: `${CARD}/application/resolve-outcomes.js`,
        find: "case 'not-found': {",
        replace: "case 'not-found': { return notExecuted(payment, reference);",
      },
    ],
    services: CARDS,
    business: { unknownSale: 1 },
    seconds: 10,
    caughtBy: [CHECK_TELLS],
  },
  {
    guard: 'a partition resent until its own acknowledgement',
    edits: [
      {
        file: 'messaging/dist/produce-failures.js',
        find: "return HELD_UP.has(name) ? 'slow' : 'failed';",
        replace: "return 'acknowledged';",
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 15,
    faults: async (scene) => {
      for (let times = 0; times < 3; times += 1) await once({ kind: 'leaders moved' }, 0)(scene);
    },
    caughtBy: [SEQUENCE],
  },
  {
    guard: 'card data kept out of logs',
    edits: [
      {
        file: `${CARD}/adapters/acquirers/simulator/connector.js`,
        find: 'function bodyOf(operation, request) {',
        replace:
          'function bodyOf(operation, request) { console.log(Buffer.from(JSON.stringify(request.card?.data.expose() ?? {})).toString("base64"));',
      },
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 5,
    caughtBy: [VAULT],
  },
  {
    guard: 'retry of a callback that was not acknowledged',
    edits: [
      {
        file: 'callback-dispatcher/dist/domain/callback.js',
        find: 'if (answer.httpStatus !== HTTP_OK)',
        replace: 'if (answer.httpStatus === undefined) return true; if (answer.httpStatus !== HTTP_OK)',
      },
    ],
    services: PAYOUTS,
    business: { paid: 1 },
    seconds: 10,
    faults: once({ kind: 'receivers absent', half: 0 }, 4_000),
    caughtBy: [CALLBACKS],
  },
];
