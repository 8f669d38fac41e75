import { setTimeout as wait } from 'node:timers/promises';
import { topicOf } from '@gateway/messaging';
import { alerts, ruleFile } from '@gateway/monitoring';
import { until } from '@gateway/testing';
import type { FiringAlert, Prometheus } from '../support/prometheus';
import { prometheusPrograms, startPrometheus } from '../support/prometheus';
import { publishAgain } from '../support/topics';
import { EXPECTED_ALERTS } from './injection/expected-alerts';
import { inject } from './injection/inject';
import type { Fault } from './injection/schedule';
import { describeFault } from './injection/schedule';
import type { Scene } from './run';
import { run, seconds } from './run';
import { openGround } from './world/ground';

/** Windows, `for` and ages are a thirtieth: ten seconds for five minutes. */
const SCALE = { timesFaster: 30 };
const MERCHANTS = 12;
const THINK_MS = 500;
/** Nothing that ends in an unknown outcome by itself. */
const BUSINESS = { sale: 40, sale3d: 20, paid: 40 };
const FAULT_MS = 20_000;
/** CounterpartSlow waits for twenty seconds. */
const SLOW_MS = 45_000;
/** Callbacks are retried for a while, so their alert waits longer. */
const RECEIVERS_MS = 75_000;
const FIRES_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 150_000;
const LOOK_EVERY_MS = 500;
const PATIENCE_MS = 120_000;
const RUN_TIMEOUT_MS = 1_500_000;

/** A fault, and the alerts that must name it. */
interface Trial {
  what: string;
  expected: readonly string[];
  /** The label `service` of the alerts that have it. */
  service?: string;
  inject(scene: Scene): Promise<unknown>;
}

interface Outcome {
  what: string;
  alert: string;
  fired: boolean;
  ended: boolean;
}

function trial(fault: Fault, service?: string, durationMs = FAULT_MS): Trial {
  return {
    what: describeFault(fault),
    expected: EXPECTED_ALERTS[fault.kind],
    ...(service === undefined ? {} : { service }),
    inject: (scene) => inject(scene, { ...fault, atMs: 0, durationMs }),
  };
}

/** At all merchants. */
function receivers(kind: 'receivers failing' | 'receivers hanging' | 'receivers absent'): Trial {
  const halves = [0, 1].map((half) => trial({ kind, half }, undefined, RECEIVERS_MS));
  return {
    what: kind,
    expected: EXPECTED_ALERTS[kind],
    inject: (scene) => Promise.all(halves.map((half) => half.inject(scene))),
  };
}

const MANNERS = ['slow', 'silent', 'lying', 'dead'] as const;
const durationOf = (manner: (typeof MANNERS)[number]): number => (manner === 'slow' ? SLOW_MS : FAULT_MS);

const BROKERS_FROZEN: Trial = {
  what: 'two brokers frozen',
  expected: ['ServiceNotReady', 'PublishStuck'],
  async inject({ ground }) {
    const frozen = ground.cluster?.kafka.slice(1) ?? [];
    await Promise.all(frozen.map((broker) => broker.freeze()));
    await wait(FAULT_MS);
    await Promise.all(frozen.map((broker) => broker.thaw()));
  },
};

const UNREADABLE_MESSAGE: Trial = {
  what: 'a message that no handler can read',
  expected: ['DeadLetters'],
  service: 'card-processing',
  inject: ({ world: { space } }) =>
    publishAgain(space, [
      {
        topic: topicOf(space.topicPrefix, 'cardCommands'),
        partition: 0,
        offset: '0',
        key: 'nothing',
        value: '{}',
        headers: {},
      },
    ]),
};

/** Lanes run beside each other, because their alerts do not touch; the trials of a lane run one after the other. */
const LANES: readonly (readonly Trial[])[] = [
  [receivers('receivers failing'), receivers('receivers hanging'), receivers('receivers absent')],
  MANNERS.map((manner) => trial({ kind: `bank ${manner}`, manner }, 'payout', durationOf(manner))),
  [
    ...MANNERS.map((manner) => trial({ kind: `acquirer ${manner}`, manner }, 'card-processing', durationOf(manner))),
    UNREADABLE_MESSAGE,
    trial({ kind: 'service away', service: 'auth-expiry' }, 'auth-expiry'),
    trial({ kind: 'replica frozen', service: 'threeds', replica: 0 }, 'threeds', FAULT_MS + 10_000),
    trial({ kind: 'clock off', service: 'auth-expiry', replica: 1, offsetMs: 30_000 }, 'auth-expiry', 3 * FAULT_MS),
    BROKERS_FROZEN,
    trial({ kind: 'primary stepped down' }),
    trial({ kind: 'primary frozen' }),
    trial({ kind: 'primary killed' }),
  ],
];

/** A ticket about a single event stays until a working day has begun, which at this scale takes hours. */
const STAY: readonly string[] = ['DeadLetters'];

const log = (line: string): void => void process.stdout.write(`${new Date().toISOString().slice(11, 23)} ${line}\n`);

const outcomes: Outcome[] = [];

beforeAll(async () => {
  const { prometheus: program } = await prometheusPrograms();
  const ground = await openGround();
  try {
    await run({
      ground,
      seed: 1,
      merchants: MERCHANTS,
      thinkMs: THINK_MS,
      business: BUSINESS,
      during: (scene) => tryAll(scene, program),
      patienceMs: PATIENCE_MS,
      log,
    });
  } finally {
    await ground.close();
  }
}, RUN_TIMEOUT_MS);

async function tryAll(scene: Scene, program: string): Promise<void> {
  const targets = scene.world.all().map(({ service, opsPort }) => ({ service, port: opsPort }));
  const prometheus = await startPrometheus({ program, targets, rules: ruleFile(SCALE) });
  const watch = watchAlerts(prometheus);
  try {
    await Promise.all(
      LANES.map(async (lane) => {
        for (const one of lane) await tryOne(one, scene, watch.firing);
      }),
    );
  } finally {
    await watch.stop();
    await prometheus.stop();
  }
}

/** Looks at the alerts twice a second, for all who wait. */
function watchAlerts(prometheus: Prometheus) {
  let latest: readonly FiringAlert[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      // A look that fails on a busy machine is repeated.
      latest = await prometheus.firing().catch(() => latest);
      await wait(LOOK_EVERY_MS);
    }
  })();
  return {
    firing: () => latest,
    stop() {
      stopped = true;
      return watching;
    },
  };
}

async function tryOne(
  { what, expected, service, inject: begin }: Trial,
  scene: Scene,
  firing: () => readonly FiringAlert[],
) {
  const beganAt = Date.now();
  const isFiring = (name: string) => firing().some((alert) => isAbout(alert, name, service));
  const succeeds = (waiting: Promise<unknown>) =>
    waiting.then(
      () => true,
      () => false,
    );
  const over = begin(scene);
  const fired = await Promise.all(
    expected.map((name) => succeeds(until(`${name} to fire`, () => isFiring(name), FIRES_WITHIN_MS))),
  );
  const firedMs = Date.now() - beganAt;
  await over;
  const ended = await Promise.all(
    expected.map((name) =>
      succeeds(until(`${name} to end`, () => STAY.includes(name) || !isFiring(name), ENDS_WITHIN_MS)),
    ),
  );
  log(
    `${what}: ${expected.join(', ')} ${fired.every(Boolean) ? `after ${seconds(firedMs)}` : `missing (${fired.join()})`}`,
  );
  for (const [index, alert] of expected.entries()) {
    outcomes.push({ what, alert, fired: fired[index] === true, ended: ended[index] === true });
  }
}

/** Of an objective's two alerts, the one that pages: the ticket's windows last for hours here, too. */
function isAbout({ labels }: FiringAlert, name: string, service: string | undefined): boolean {
  const { severity } = alerts.find((alert) => alert.name === name) ?? {};
  const isOfService = service === undefined || labels['service'] === undefined || labels['service'] === service;
  return labels['alertname'] === name && labels['severity'] === severity && isOfService;
}

test.each(LANES.flat().map(({ what, expected }) => [what, expected.join(' and ')] as const))(
  '%s is named by %s, which end with it or stay as tickets',
  (what) => {
    const own = outcomes.filter((outcome) => outcome.what === what);
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ fired, ended }) => !fired || !ended)).toEqual([]);
  },
);

test('every kind of fault that must be named was injected', () => {
  const named = Object.entries(EXPECTED_ALERTS).flatMap(([kind, expected]) => (expected.length > 0 ? [kind] : []));
  const tried = LANES.flat().map(({ what }) => what);
  expect(named.filter((kind) => !tried.some((what) => what.startsWith(kind)))).toEqual([]);
});
