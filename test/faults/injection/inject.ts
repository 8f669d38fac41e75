import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import type { Cluster, Member } from '@gateway/testing';
import { moveLeaders, untilInSync } from '@gateway/testing';
import { allTopics } from '../../support/topics';
import type { Random } from '../random';
import type { Scene } from '../run';
import type { Counterpart, Manner } from '../world/counterpart';
import type { Replica } from '../world/replica';
import { repeatMessages, rewindGroup } from './brokers';
import { primaryOf, stepDown } from './database';
import type { Fault, PlannedFault } from './schedule';

const CLOCK_PRELOAD = join(__dirname, '..', 'preload', 'clock.cjs');

/** Makes one fault happen and undoes it after its time. Resolves when it is over. */
export async function inject(scene: Scene, fault: PlannedFault): Promise<void> {
  const { world, ground, random } = scene;
  const { durationMs } = fault;
  if ('manner' in fault) return misbehaving(counterpartOf(scene, fault), fault.manner, durationMs);
  if ('half' in fault) return receiversUnwell(scene, fault, durationMs);
  switch (fault.kind) {
    case 'replica killed':
      return replicaOf(scene, fault).kill();
    case 'replica terminated':
      return replicaOf(scene, fault).terminate();
    case 'replica frozen':
      return frozen(replicaOf(scene, fault), durationMs);
    case 'service away':
      return away(world.replicas(fault.service), () => wait(durationMs));
    case 'clock off':
      return clockOff(replicaOf(scene, fault), fault.offsetMs, durationMs);
    case 'simulator killed':
      return world.simulator.kill();
    case 'messages repeated':
      if (ground.cluster !== undefined) await untilInSync(ground.cluster.brokers);
      return repeatMessages(world.space, random.fork(`repeated ${fault.atMs}`));
    case 'group rewound':
      return away(world.replicas(fault.service), () => rewindGroup(world.space, fault.service));
    default:
      return ground.cluster === undefined ? undefined : injectIntoCluster(scene, ground.cluster, fault);
  }
}

async function injectIntoCluster(scene: Scene, cluster: Cluster, fault: PlannedFault): Promise<void> {
  const { durationMs } = fault;
  switch (fault.kind) {
    case 'broker killed':
    case 'broker stopped':
    case 'broker frozen':
    case 'brokers rolled':
    case 'leaders moved':
      return inTurn(cluster, () => injectIntoBrokers(scene, cluster, fault));
    case 'primary killed':
      return gone(await primaryOf(cluster.mongo), (primary) => primary.kill(), durationMs);
    case 'primary frozen':
      return frozen(await primaryOf(cluster.mongo), durationMs);
    case 'primary stepped down':
      return stepDown(await primaryOf(cluster.mongo));
    default:
      throw new Error(`no cluster is needed for ${fault.kind}`);
  }
}

type BrokerFault = Extract<PlannedFault, { kind: `broker${string}` | 'leaders moved' }>;

async function injectIntoBrokers(scene: Scene, cluster: Cluster, fault: BrokerFault): Promise<void> {
  const { space } = scene.world;
  const { durationMs } = fault;
  await untilInSync(cluster.brokers);
  switch (fault.kind) {
    case 'broker killed':
      return gone(brokerOf(cluster, fault.broker), (broker) => broker.kill(), durationMs);
    case 'broker stopped':
      return gone(brokerOf(cluster, fault.broker), (broker) => broker.terminate(), durationMs);
    case 'broker frozen':
      return frozen(brokerOf(cluster, fault.broker), durationMs);
    case 'brokers rolled':
      for (const broker of cluster.kafka) {
        await untilInSync(cluster.brokers);
        await gone(broker, () => broker.terminate(), 0);
      }
      return;
    case 'leaders moved':
      return moveLeaders(space.brokers, allTopics(space));
  }
}

const turns = new WeakMap<Cluster, Promise<unknown>>();

/** One after the other: two that wait for the same moment would take two brokers away, or start one twice. */
function inTurn(cluster: Cluster, work: () => Promise<void>): Promise<void> {
  const before = turns.get(cluster) ?? Promise.resolve();
  const turn = before.then(work, work);
  turns.set(cluster, turn);
  return turn;
}

function replicaOf({ world }: Scene, fault: Extract<Fault, { replica: number }>): Replica {
  const found = world.replicas(fault.service)[fault.replica];
  if (found === undefined) throw new Error(`no replica ${fault.replica} of ${fault.service}`);
  return found;
}

function brokerOf(cluster: Cluster, index: number): Member {
  return cluster.kafka[index] as Member;
}

function counterpartOf({ world }: Scene, { kind }: Extract<Fault, { manner: string }>): Counterpart {
  return kind.startsWith('acquirer') ? world.acquirer : world.bank;
}

interface Freezable {
  freeze(): Promise<void> | void;
  thaw(): Promise<void> | void;
}

async function frozen(one: Freezable, durationMs: number): Promise<void> {
  await one.freeze();
  await wait(durationMs);
  await one.thaw();
}

async function gone(member: Member, end: (member: Member) => Promise<void>, durationMs: number): Promise<void> {
  await end(member);
  await wait(durationMs);
  await member.start();
}

/** All replicas of a service leave, and come back when the work is done. */
async function away(replicas: readonly Replica[], work: () => Promise<unknown>): Promise<void> {
  await Promise.all(replicas.map((replica) => replica.leave()));
  try {
    await work();
  } finally {
    for (const replica of replicas) replica.comeBack();
  }
}

async function clockOff(replica: Replica, offsetMs: number, durationMs: number): Promise<void> {
  await replica.restartWith([{ file: CLOCK_PRELOAD, env: { CLOCK_OFFSET_MS: String(offsetMs) } }]);
  await wait(durationMs);
  await replica.restartWith([]);
}

async function misbehaving(counterpart: Counterpart, manner: Manner, durationMs: number): Promise<void> {
  await counterpart.behave(manner);
  await wait(durationMs);
  await counterpart.behave('honest');
}

const MANNERS = {
  'receivers failing': 'failing',
  'receivers hanging': 'hanging',
  'receivers absent': 'absent',
} as const;

async function receiversUnwell(
  { receivers }: Scene,
  fault: Extract<Fault, { half: number }>,
  durationMs: number,
): Promise<void> {
  const half = receivers.all.filter((_receiver, index) => index % 2 === fault.half);
  for (const receiver of half) receiver.behave(MANNERS[fault.kind]);
  await wait(durationMs);
  for (const receiver of half) receiver.behave('well');
}

/** A fault that happened, in epoch ms. */
export interface Happened {
  fault: Fault;
  startedAt: number;
  endedAt: number;
  /** It could not be undone, or not even be begun. */
  failed?: string;
}

/** Injects the planned faults at their times. Resolves when all are over. */
export async function injectAll(
  scene: Scene & { random: Random },
  planned: readonly PlannedFault[],
  totalMs: number,
  onHappened: (happened: Happened) => void,
): Promise<void> {
  const began = Date.now();
  const injecting = planned.map(async (fault) => {
    await wait(began + fault.atMs - Date.now());
    const startedAt = Date.now();
    const failed = await inject(scene, fault).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    onHappened({ fault, startedAt, endedAt: Date.now(), ...(failed === undefined ? {} : { failed }) });
  });
  await Promise.all([...injecting, wait(began + totalMs - Date.now())]);
}
