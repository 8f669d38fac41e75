import { asImageEnvironment, KAFKA_IMAGE, KAFKA_IMAGE_DATA, kafkaIsUp } from './kafka.mjs';
import { kafkaJvm, kafkaNodes, kafkaProperties } from './kafka.mjs';
import { initiateReplicaSet, MONGODB_IMAGE, MONGODB_IMAGE_DATA, mongodArguments } from './mongodb.mjs';

/**
 * Servers in containers that Testcontainers looks after, their data in memory.
 * @implements {ServerProvider}
 * @typedef {import('./provide-servers.mjs').ServerProvider} ServerProvider
 * @typedef {import('./provide-servers.mjs').ServerContext} ServerContext
 */
export class TestContainers {
  #context;
  /** @type {Promise<import('testcontainers').StartedTestContainer>[]} */
  #starting = [];

  /** @param {ServerContext} context */
  constructor(context) {
    this.#context = context;
    // The holder of these containers stops them when the test run ends in any way. The Ryuk container would do the
    // same, but is one more image to pull. Set to `false`, it runs all the same.
    process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  }

  async startKafka() {
    const { ports } = this.#context;
    const nodes = kafkaNodes(ports.kafka);
    const [node] = nodes;
    const properties = kafkaProperties({ node, nodes, host: '0.0.0.0', dataDirectory: KAFKA_IMAGE_DATA });
    const environment = asImageEnvironment(properties, kafkaJvm(nodes));
    await this.#start(KAFKA_IMAGE, node.port, (container) => container.withEnvironment(environment));
    await kafkaIsUp({ port: node.port, logFile: `docker logs of ${KAFKA_IMAGE}` });
    return `127.0.0.1:${node.port}`;
  }

  async startMongodb() {
    const [port] = this.#context.ports.mongodb;
    await this.#start(MONGODB_IMAGE, port, (container) =>
      container.withCommand(['mongod', ...mongodArguments(port)]).withTmpFs({ [MONGODB_IMAGE_DATA]: 'rw' }),
    );
    const logFile = `docker logs of ${MONGODB_IMAGE}`;
    return initiateReplicaSet({ ports: [port], logFile, processes: this.#context.processes });
  }

  async stop() {
    const started = await Promise.allSettled(this.#starting);
    await Promise.all(started.map((start) => start.status === 'fulfilled' && start.value.stop({ timeout: 0 })));
  }

  /**
   * @param {string} image
   * @param {number} port inside as outside, because both servers send their own address to clients
   * @param {(container: import('testcontainers').GenericContainer) => import('testcontainers').GenericContainer} configure
   */
  async #start(image, port, configure) {
    // Imported here because it loads slowly and is only needed with Docker.
    const { GenericContainer } = await import('testcontainers');
    const container = new GenericContainer(image).withExposedPorts({ container: port, host: port });
    this.#starting.push(configure(container).start());
    await this.#starting.at(-1);
  }
}
