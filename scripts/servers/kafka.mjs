import { answers, until } from './ports.mjs';

export const KAFKA_VERSION = '4.1.0';
export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;
/** Where the image may keep data. */
export const KAFKA_IMAGE_DATA = '/var/lib/kafka/data';
/** A small heap, and a collector without threads of its own that compete with the services on a small machine. */
export const KAFKA_JVM = ['-Xmx512m', '-XX:+UseSerialGC'];

const READY_TIMEOUT_MS = 60_000;

/**
 * One node that is broker and controller, for development and tests. Clients reach it on 127.0.0.1, wherever it runs.
 * @param {{ host: string, port: number, controllerPort: number, dataDirectory: string }} place `host`: where it listens
 * @returns {Record<string, string>} server.properties
 */
export function kafkaProperties({ host, port, controllerPort, dataDirectory }) {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': dataDirectory,
    // A topic that the contracts do not name is a mistake.
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': '12',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    // Replicas start one by one here; waiting for company would only delay them.
    'group.initial.rebalance.delay.ms': '0',
  };
}

/**
 * The same as environment variables, as the image takes them: `log.dirs` is `KAFKA_LOG_DIRS`.
 * @param {Record<string, string>} properties
 * @returns {Record<string, string>}
 */
export function asImageEnvironment(properties) {
  const settings = Object.entries(properties).map(([name, value]) => [
    `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
    value,
  ]);
  return { ...Object.fromEntries(settings), KAFKA_HEAP_OPTS: KAFKA_JVM.join(' ') };
}

/**
 * Waits until the broker answers requests: that its port is open says nothing when a container's proxy holds it.
 * @param {number} port
 * @param {string} logFile named in the failure
 */
export async function kafkaIsUp(port, logFile) {
  const request = apiVersionsRequest('payment-gateway');
  await until(() => answers({ host: '127.0.0.1', port }, request), {
    timeoutMs: READY_TIMEOUT_MS,
    complaint: `Kafka has not come up on port ${port} within ${READY_TIMEOUT_MS / 1000} s: ${logFile} says why.`,
  });
}

/**
 * Kafka protocol guide, ApiVersions v0: what any client asks first and any broker answers.
 * @param {string} clientId
 * @returns {Buffer}
 */
function apiVersionsRequest(clientId) {
  const API_VERSIONS = 18;
  const header = Buffer.alloc(10);
  header.writeInt16BE(API_VERSIONS, 0);
  header.writeInt16BE(0, 2);
  header.writeInt32BE(1, 4);
  header.writeInt16BE(clientId.length, 8);
  const size = Buffer.alloc(4);
  size.writeInt32BE(header.length + clientId.length);
  return Buffer.concat([size, header, Buffer.from(clientId)]);
}
