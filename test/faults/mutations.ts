import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './injection/schedule';
import { inject } from './injection/inject';
import type { Business } from './merchants/merchant';
import type { Scene } from './run';
import type { Edit } from './world/release';
import type { ServiceName } from './world/world';

/** A disabled guard, and a short run in which a check must notice. */
export interface Mutation {
  /** The disabled guard. */
  guard: string;
  edits: readonly Edit[];
  /** Widens an existing race window, so that a run of seconds hits it. */
  delays?: readonly Edit[];
  services: readonly ServiceName[];
  business: Business;
  settings?: Record<string, string>;
  seconds: number;
  faults?(scene: Scene): Promise<void>;
  /** At least one of these checks must fail. */
  caughtBy: readonly string[];
}

const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });

const CARDS = ['api-edge', 'card-processing'] as const;
const CARDS_3D = [...CARDS, 'threeds', 'callback-dispatcher'] as const;
const PAYOUTS = ['api-edge', 'payout', 'callback-dispatcher'] as const;

const BANK_KNOWS = 'every success is known to the bank';
const CHECK_SHOWS = 'CHECK shows all money that moved';
const NOT_TWICE = 'nothing is charged, settled, refunded or paid twice';
const ASKED_ONCE = 'banks get each request once, and no forbidden request';
const IN_TIME = 'nothing runs after its deadline';
const TERMINAL = 'final outcomes never change';
const ACCEPTED = 'CHECK knows every accepted request';
const CALLBACKS = 'every final callback is attempted and signed';
const SEQUENCE = 'events are in sequence and complete';
const LEFT = 'nothing is left behind';
const VAULT = 'card data stays in the vault';

const PAUSE = 'await new Promise((resolve) => setTimeout(resolve, 1500));';

/** Long enough for a killed service to rejoin its group and work again. */
const FIRST_WORK_MS = 6_000;
const AT_WORK_MS = 12_000;

/** Kills both replicas of a service, or only the first, several times. */
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

/**
 * A call whose lease is over, or that never had one, is not sent. This guard stands behind others, and would hide that
 * they are disabled.
 */
const OUTLASTING_CARD_CALLS = edit(`${CARD}/domain/decide.js`, 'at: resolveAt - callMs', 'at: Infinity');
const OUTLASTING_PAYOUT_CALLS = edit(
  'payout/dist/application/submit-payout.js',
  'return now() + callMs > resolveAt;',
  'return false;',
);

export const MUTATIONS: readonly Mutation[] = [
  {
    guard: 'version check of a conditional update',
    edits: [edit('mongo/dist/group-writes.js', 'filter: { _id: id, version }', 'filter: { _id: id }')],
    services: CARDS,
    business: { raced: 3, refunded: 1 },
    seconds: 20,
    caughtBy: [SEQUENCE, LEFT, TERMINAL, CHECK_SHOWS, NOT_TWICE, BANK_KNOWS],
  },
  {
    guard: 'reference as the idempotency key of a call',
    edits: [
      edit(
        `${CARD}/adapters/acquirers/simulator/connector.js`,
        "'idempotency-key': request.reference",
        "'idempotency-key': `${request.reference}-${Date.now()}`",
      ),
    ],
    services: CARDS,
    business: { unknownSale: 1 },
    seconds: 10,
    caughtBy: [CHECK_SHOWS],
  },
  {
    guard: 'offsets committed after the write',
    edits: [
      edit(
        'messaging/dist/work-queue.js',
        'const watermarkOf = ({ topic, partition, watermark }) => ({ topic, partition, offset: watermark });',
        'const watermarkOf = ({ topic, partition, next }) => ({ topic, partition, offset: next });',
      ),
    ],
    delays: [
      edit(
        'callback-dispatcher/dist/application/store-delivery.js',
        'const { written, stored } = await ports.handle(eventId',
        `${PAUSE} const { written, stored } = await ports.handle(eventId`,
      ),
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
      edit(
        'mongo/dist/handle.js',
        'await store.update(current, state, messages, traced);',
        '(setTimeout(() => void store.update(current, state, messages, traced), 4000),' +
          ' { ...current, ...state, version: current.version + 1 });',
      ),
    ],
    services: CARDS,
    business: { saleAndAsked: 1 },
    seconds: 10,
    caughtBy: [TERMINAL],
  },
  {
    guard: 'events drained after their acknowledgement',
    edits: [
      edit(
        'mongo/dist/outbox.js',
        'await options.publish(_id, rest);',
        'setTimeout(() => void options.publish(_id, rest).catch(() => undefined), 1500);',
      ),
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
      edit(
        `${CARD}/application/call-acquirer.js`,
        'return ports.now() + (0, mongo_1.callLeaseMs)(cvvMs + (connector?.longestCallMs ?? 0));',
        'return ports.now();',
      ),
      OUTLASTING_CARD_CALLS,
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
      edit(`${CARD}/domain/decide.js`, 'if (facts.now > command.data.deadline &&', 'if (false &&'),
      edit(`${CARD}/domain/decide.js`, 'deadlines.find(({ at }) => now > at)', 'undefined'),
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
      edit(
        `${CARD}/domain/proof.js`,
        "if (state.kind !== 'authenticated')",
        "if (state.kind !== 'authenticated') return undefined; if (false)",
      ),
      edit(`${CARD}/domain/payment.js`, "return mayBegin(state) || state.kind === 'authenticated';", 'return true;'),
    ],
    services: CARDS_3D,
    business: { auth3dAndSale: 1 },
    seconds: 20,
    caughtBy: [NOT_TWICE],
  },
  {
    guard: 'callback recorded as delivered after its attempt',
    edits: [
      edit(
        'callback-dispatcher/dist/application/attempt-delivery.js',
        'await ports.attempts.begin(attempt);',
        `await ports.attempts.begin(attempt);
          await recordResult(ports, stored, { httpStatus: 200, body: 'OK', durationMs: 0 }, true); ${PAUSE}`,
      ),
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
      edit(
        'api-edge/dist/application/offer.js',
        'const insertion = await insertUntil(ports, entry, deadline, attempt);',
        `if (entry.space === 'card') await ports.bus.publish(entry.command); ${PAUSE}
          const insertion = await insertUntil(ports, entry, deadline, attempt);`,
      ),
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 15,
    faults: killing('api-edge', 2),
    caughtBy: [CHECK_SHOWS, ACCEPTED],
  },
  {
    guard: 'unique id of a request in the journal',
    edits: [
      edit(
        'api-edge/dist/adapters/mongo/journal.js',
        'transactionUniqueId: 1, attempt: 1 },\n                    name: INDEXES.uniqueId,\n                    unique: true,',
        'transactionUniqueId: 1, attempt: 1 },\n                    name: INDEXES.uniqueId,',
      ),
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
      edit(
        'payout/dist/application/process-command.js',
        'if (!written) {',
        `if (!written && place !== undefined) {
            await ports.calls.begin(() => (0, submit_payout_1.submitPayout)(ports, stored, place, causationId));
            return;
          }
          if (!written) {`,
      ),
      OUTLASTING_PAYOUT_CALLS,
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
      edit(
        `${CARD}/application/process-command.js`,
        'if (!written ||',
        'payment.pending ??= { reference, kind: "sale" }; if (payment.pending === undefined ||',
      ),
      OUTLASTING_CARD_CALLS,
    ],
    services: CARDS,
    // A CVV is read once, so an operation that needs one cannot be called again.
    business: { saleByToken: 1 },
    seconds: 10,
    faults: once({ kind: 'messages repeated' }, 0),
    caughtBy: [ASKED_ONCE],
  },
  {
    guard: 'SETTLE respected by the end of a hold',
    edits: [
      edit(
        `${CARD}/domain/decide-expiry.js`,
        "if (state.kind !== 'authorized' || state.hold.reference !== ask.reference)",
        "if (!['authorized', 'charged'].includes(state.kind) || state.hold?.reference !== ask.reference)",
      ),
    ],
    delays: [
      edit(
        'auth-expiry/dist/adapters/mongo/deadlines.js',
        'end: (reference) => close(reference),',
        'end: async (reference) => { await new Promise((resolve) => setTimeout(resolve, 15000)); await close(reference); },',
      ),
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
      edit(
        `${CARD}/application/resolve-outcomes.js`,
        "case 'not-found': {",
        "case 'not-found': { return notExecuted(payment, reference);",
      ),
    ],
    services: CARDS,
    business: { unknownSale: 1 },
    seconds: 20,
    caughtBy: [CHECK_SHOWS],
  },
  {
    guard: 'a partition resent until its own acknowledgement',
    edits: [
      edit(
        'messaging/dist/produce-failures.js',
        "return HELD_UP.has(name) ? 'slow' : 'failed';",
        "return 'acknowledged';",
      ),
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
      edit(
        `${CARD}/adapters/acquirers/simulator/connector.js`,
        'function bodyOf(operation, request) {',
        'function bodyOf(operation, request) { console.log(Buffer.from(JSON.stringify(request.card?.data.expose() ?? {})).toString("base64"));',
      ),
    ],
    services: CARDS,
    business: { sale: 1 },
    seconds: 5,
    caughtBy: [VAULT],
  },
  {
    guard: 'retry of a callback that was not acknowledged',
    edits: [
      edit(
        'callback-dispatcher/dist/domain/acknowledgement.js',
        'if (httpStatus === undefined)',
        'if (httpStatus === undefined) return undefined; if (httpStatus === undefined)',
      ),
    ],
    services: PAYOUTS,
    business: { paid: 1 },
    seconds: 10,
    faults: once({ kind: 'receivers absent', half: 0 }, 4_000),
    caughtBy: [CALLBACKS],
  },
];
