import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connectMongo } from '@gateway/mongo';
import type { Addresses } from './space';
import type { Holder } from './servers';
import { endHolder, startHolder } from './servers';

/** A server of a cluster. Tests may stop, freeze and restart it; it keeps its data. */
export interface Member {
  /** `kafka-1` to `kafka-3`, `mongod-1` to `mongod-3`; `kafka` if it is the only one. */
  readonly name: string;
  /** Port on 127.0.0.1. A restart keeps it. */
  readonly port: number;
  /** Id of the running or the last process. */
  readonly pid: number;
  /** SIGKILL. Resolves when the process has exited. */
  kill(): Promise<void>;
  /** SIGTERM, for a clean shutdown. Resolves when the process has exited. */
  terminate(): Promise<void>;
  /** SIGSTOP: its connections stay open but it answers nothing. */
  freeze(): Promise<void>;
  /** SIGCONT. Resolves when the member serves again. */
  thaw(): Promise<void>;
  /** Starts it again with the same data. Resolves when the member serves again. */
  start(): Promise<void>;
}

export type Members = readonly [Member, Member, Member];

export interface KafkaCluster {
  /** `host:port,host:port,host:port` */
  readonly brokers: string;
  readonly kafka: Members;
  /** Ends all members, also those that are frozen, and removes their data. */
  close(): Promise<void>;
}

export interface ReplicaSet {
  /** The set's URI, without a database. */
  readonly mongoUri: string;
  readonly mongo: Members;
  /** Ends all members, also those that are frozen, and removes their data. */
  close(): Promise<void>;
}

export type Cluster = KafkaCluster & ReplicaSet & Addresses;

/**
 * Starts three brokers and a replica set of three as local processes for the caller alone, set up like `npm run
 * cluster`: internal topics have replication 3 and two in-sync replicas. They end with this process, even if it is
 * killed. `close` also works while members are dead or frozen.
 *
 * @throws Error with one sentence if this machine cannot run them.
 */
export async function openCluster(): Promise<Cluster> {
  const { brokers, mongoUri, kafka, mongo, close } = await open(['kafka', 'mongodb']);
  return { brokers, mongoUri, kafka: three(kafka), mongo: three(mongo), close };
}

/** The brokers of {@link openCluster} without its replica set. */
export async function openKafkaCluster(): Promise<KafkaCluster> {
  const { brokers, kafka, close } = await open(['kafka']);
  return { brokers, kafka: three(kafka), close };
}

/** Starts a single broker for the caller alone: faster than a cluster, and enough to play an outage of all brokers. */
export async function openBroker(): Promise<{ brokers: string; broker: Member; close(): Promise<void> }> {
  const { brokers, kafka, close } = await open(['kafka=1']);
  const [broker] = kafka;
  if (broker === undefined) throw new Error('no broker');
  return { brokers, broker, close };
}

/** The replica set of {@link openCluster} without its brokers. */
export async function openReplicaSet(): Promise<ReplicaSet> {
  const { mongoUri, mongo, close } = await open(['mongodb']);
  return { mongoUri, mongo: three(mongo), close };
}

/** Starts a single MongoDB for the caller alone. It keeps expired documents until `removeExpired`. */
export async function openMongo(): Promise<{
  mongoUri: string;
  /** From now on they are removed within seconds. */
  removeExpired(): Promise<void>;
  close(): Promise<void>;
}> {
  const { mongoUri, close } = await open(['mongodb=1']);
  return {
    mongoUri,
    async removeExpired() {
      const { client, close: disconnect } = await connectMongo({ uri: mongoUri, database: 'admin' });
      await client.db('admin').command({ setParameter: 1, ttlMonitorEnabled: true });
      await disconnect();
    },
    close,
  };
}

interface Announced {
  kafkaBrokers: string;
  mongodbUri: string;
  members: { name: string; port: number; pid: number }[];
}

interface Opened extends Addresses {
  kafka: Member[];
  mongo: Member[];
  close(): Promise<void>;
}

async function open(servers: readonly ('kafka' | 'kafka=1' | 'mongodb' | 'mongodb=1')[]): Promise<Opened> {
  const holder = startHolder('test-cluster.mjs', servers);
  const orders = createOrders(holder);
  const { kafkaBrokers: brokers, mongodbUri: mongoUri, members } = await orders.announced;
  const all = members.map((member) => memberOf(member, orders.give));
  return {
    brokers,
    mongoUri,
    kafka: all.filter(({ name }) => name.startsWith('kafka')),
    mongo: all.filter(({ name }) => name.startsWith('mongod')),
    close: () => endHolder(holder),
  };
}

function three(members: readonly Member[]): Members {
  const [first, second, third] = members;
  if (first === undefined || second === undefined || third === undefined) throw new Error('not a cluster of three');
  return [first, second, third];
}

type Give = (member: string, action: string) => Promise<number>;

function memberOf({ name, port, pid }: Announced['members'][number], give: Give): Member {
  const order = (action: string) => async (): Promise<void> => {
    pid = await give(name, action);
  };
  return {
    name,
    port,
    get pid() {
      return pid;
    },
    kill: order('kill'),
    terminate: order('terminate'),
    freeze: order('freeze'),
    thaw: order('thaw'),
    start: order('start'),
  };
}

type Answer = { id: number; pid: number } | { id: number; failure: string };

/** Sends commands to the holder and reads its answers, one line of JSON each. Its first line announces the servers. */
function createOrders(holder: Holder): { announced: Promise<Announced>; give: Give } {
  const waiting = new Map<number, { resolve: (pid: number) => void; reject: (error: Error) => void }>();
  let given = 0;
  const lines = createInterface({ input: holder.stdout });
  const announced = Promise.race([
    once(lines, 'line').then(([line]) => announcementIn(line as string)),
    once(holder, 'exit').then(() => Promise.reject(new Error('the cluster process exited without a message'))),
  ]);
  lines.on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    const order = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('failure' in answer) order?.reject(new Error(answer.failure));
    else order?.resolve(answer.pid);
  });
  holder.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the cluster has ended'));
    waiting.clear();
  });
  // The holder may exit before a write.
  holder.stdin.on('error', () => undefined);
  return {
    announced,
    give: (member, action) =>
      new Promise((resolve, reject) => {
        if (holder.exitCode !== null) throw new Error('the cluster has ended');
        given += 1;
        waiting.set(given, { resolve, reject });
        holder.stdin.write(`${JSON.stringify({ id: given, member, action })}\n`);
      }),
  };
}

function announcementIn(line: string): Announced {
  const announced = JSON.parse(line) as Announced | { failure: string };
  if ('failure' in announced) throw new Error(announced.failure);
  return announced;
}
