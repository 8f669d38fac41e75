import { exchange, until } from './ports.mjs';

export const KAFKA_VERSION = '4.1.0';
export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;
/** Where the image may keep data. */
export const KAFKA_IMAGE_DATA = '/var/lib/kafka/data';
/**
 * For brokers that share a small machine with the services and live for minutes: a collector without threads of its own,
 * and only the quick compiler. The optimizing one would take as much CPU time as all requests, and 150 MiB.
 */
const KAFKA_JVM = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

const READY_TIMEOUT_MS = 60_000;

/**
 * One of the nodes of a cluster; each is broker and controller.
 * @typedef {{ id: number, port: number, controllerPort: number }} KafkaNode
 */

/**
 * @param {import('./provide-servers.mjs').ServerPorts['kafka']} ports
 * @returns {[KafkaNode, ...KafkaNode[]]}
 */
export function kafkaNodes(ports) {
  const [first, ...others] = ports;
  return [{ id: 1, ...first }, ...others.map((own, index) => ({ id: index + 2, ...own }))];
}

/**
 * @param {readonly KafkaNode[]} nodes of the cluster
 * @returns {string[]} options of each node's JVM; three nodes of a cluster together are not much larger than a single one
 */
export function kafkaJvm(nodes) {
  return [nodes.length > 1 ? '-Xmx256m' : '-Xmx512m', ...KAFKA_JVM];
}

/**
 * When a cluster fences a silent node. With Kafka's default of 9 s all partitions stop for as long: a leader acknowledges
 * nothing while a dead follower counts as in sync. See ADR 0022 for production.
 */
const FAILOVER = {
  'broker.heartbeat.interval.ms': '500',
  'broker.session.timeout.ms': '2000',
  'controller.quorum.fetch.timeout.ms': '1000',
  'controller.quorum.election.timeout.ms': '500',
  'controller.quorum.election.backoff.max.ms': '500',
};

/**
 * For tests: a broker that admits only users, over TLS, and lets them do only what access lists say. Users with a
 * password connect to the node's port, those with a client certificate to `certificatePort`.
 * @typedef {object} KafkaSecurity
 * @property {number} certificatePort
 * @property {string} keyFile PEM: private key and certificate of the broker
 * @property {string} trustFile PEM: its own certificate, and those of clients
 * @property {Record<string, string>} passwords by user; `admin` may do everything
 */

/**
 * @param {KafkaNode} node
 * @param {KafkaSecurity} security
 * @returns {Record<string, string>} in place of the listeners of an open broker
 */
function securityProperties({ port, controllerPort }, { certificatePort, keyFile, trustFile, passwords }) {
  const login = 'org.apache.kafka.common.security.scram.ScramLoginModule required';
  return {
    listeners: `SASL_SSL://127.0.0.1:${port},SSL://127.0.0.1:${certificatePort},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `SASL_SSL://127.0.0.1:${port},SSL://127.0.0.1:${certificatePort}`,
    'listener.security.protocol.map': 'SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'SASL_SSL',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': `${login} username="admin" password="${passwords.admin}";`,
    'listener.name.ssl.ssl.client.auth': 'required',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyFile,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': trustFile,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // The broker reaches its own controller without a user. In production that listener has one, too.
    'super.users': 'User:admin;User:ANONYMOUS',
  };
}

/**
 * @param {KafkaSecurity | undefined} security
 * @returns {string[]} lines of a file of options for the tool that formats the storage: the users
 */
export function scramOptions(security) {
  return Object.entries(security?.passwords ?? {}).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${password}]`,
  ]);
}

/**
 * A node for development and tests. Clients reach it on 127.0.0.1, wherever it runs.
 * @param {{ node: KafkaNode, nodes: readonly KafkaNode[], host: string, dataDirectory: string, security?: KafkaSecurity }} place
 *   `host`: where it listens for clients; `nodes`: the whole cluster
 * @returns {Record<string, string>} server.properties
 */
export function kafkaProperties({ node, nodes, host, dataDirectory, security }) {
  const replicas = String(nodes.length);
  // One node may be away without stopping others, and every acknowledged message is on two disks or more.
  const minInsyncReplicas = String(Math.max(1, nodes.length - 1));
  return {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': nodes.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${host}:${node.port},CONTROLLER://127.0.0.1:${node.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${node.port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': dataDirectory,
    // A topic outside the contracts is a mistake.
    'auto.create.topics.enable': 'false',
    'default.replication.factor': replicas,
    'min.insync.replicas': minInsyncReplicas,
    'offsets.topic.num.partitions': '12',
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': minInsyncReplicas,
    // The default of 128 MiB is half of the heap of a cluster's node.
    'log.cleaner.dedupe.buffer.size': String(8 * 1_048_576),
    // Replicas start one by one here; waiting for more members would only delay them.
    'group.initial.rebalance.delay.ms': '0',
    ...(nodes.length > 1 ? FAILOVER : {}),
    ...(security === undefined ? {} : securityProperties(node, security)),
  };
}

/**
 * The same as environment variables for the image: `log.dirs` is `KAFKA_LOG_DIRS`.
 * @param {Record<string, string>} properties
 * @param {readonly string[]} jvm
 * @returns {Record<string, string>}
 */
export function asImageEnvironment(properties, jvm) {
  const settings = Object.entries(properties).map(([name, value]) => [
    `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
    value,
  ]);
  return { ...Object.fromEntries(settings), KAFKA_HEAP_OPTS: jvm.join(' ') };
}

/**
 * Waits until the broker on `port` answers and knows the brokers on `peers` to be at work, itself among them. That its
 * port is open says little: a container's proxy may hold it, and a broker that starts opens it before it leads anything.
 * @param {{ port: number, peers?: readonly number[], logFile: string }} broker `logFile` is named in the failure
 */
export async function kafkaIsUp({ port, peers = [port], logFile }) {
  await until(
    async () => {
      const atWork = await brokerPorts(port);
      return peers.every((peer) => atWork.includes(peer));
    },
    {
      timeoutMs: READY_TIMEOUT_MS,
      complaint: `Kafka has not come up on port ${port} within ${READY_TIMEOUT_MS / 1000} s: ${logFile} says why.`,
    },
  );
}

/**
 * Asks the broker on `port` for the cluster's brokers (Kafka protocol guide, Metadata v5).
 * @param {number} port
 * @returns {Promise<number[]>} the ports of those that are at work; none without an answer
 */
async function brokerPorts(port) {
  const answer = await exchange({ host: '127.0.0.1', port }, metadataRequest('payment-gateway'));
  if (answer === undefined) return [];
  // Correlation id and throttle time come first.
  let offset = 8;
  const count = answer.readInt32BE(offset);
  offset += 4;
  const ports = [];
  for (let read = 0; read < count; read += 1) {
    const hostLength = answer.readInt16BE(offset + 4);
    offset += 6 + hostLength;
    ports.push(answer.readInt32BE(offset));
    const rackLength = Math.max(0, answer.readInt16BE(offset + 4));
    offset += 6 + rackLength;
  }
  return ports;
}

/**
 * @param {string} clientId
 * @returns {Buffer} with its size in front
 */
function metadataRequest(clientId) {
  const [METADATA, VERSION] = [3, 5];
  const header = Buffer.alloc(10);
  header.writeInt16BE(METADATA, 0);
  header.writeInt16BE(VERSION, 2);
  header.writeInt32BE(1, 4);
  header.writeInt16BE(clientId.length, 8);
  // Of no topic, and without creating any.
  const body = Buffer.alloc(5);
  const message = Buffer.concat([header, Buffer.from(clientId), body]);
  const size = Buffer.alloc(4);
  size.writeInt32BE(message.length);
  return Buffer.concat([size, message]);
}
