import { join } from 'node:path';
import { checkoutId } from '../checkout.mjs';
import { asImageEnvironment, KAFKA_IMAGE, KAFKA_IMAGE_DATA, kafkaIsUp } from './kafka.mjs';
import { kafkaJvm, kafkaNodes, kafkaProperties } from './kafka.mjs';
import { initiateReplicaSet, MONGODB_IMAGE, MONGODB_IMAGE_DATA, mongodArguments } from './mongodb.mjs';

/**
 * Servers in containers of this checkout, their data in volumes of the same names. `docker run` stays in the
 * foreground: it passes the output on, takes the signal to stop, and its end is the container's end.
 * @implements {ServerProvider}
 * @typedef {import('./provide-servers.mjs').ServerProvider} ServerProvider
 * @typedef {import('./provide-servers.mjs').ServerContext} ServerContext
 */
export class DockerServers {
  #context;

  /** @param {ServerContext} context */
  constructor(context) {
    this.#context = context;
  }

  async startKafka() {
    const { logDirectory, ports } = this.#context;
    const nodes = kafkaNodes(ports.kafka);
    const [node] = nodes;
    const properties = kafkaProperties({ node, nodes, host: '0.0.0.0', dataDirectory: KAFKA_IMAGE_DATA });
    const environment = Object.entries(asImageEnvironment(properties, kafkaJvm(nodes)));
    const settings = environment.flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    this.#launch('kafka', node.port, KAFKA_IMAGE_DATA, [...settings, KAFKA_IMAGE]);
    await kafkaIsUp({ port: node.port, logFile: join(logDirectory, 'kafka.log') });
    return `127.0.0.1:${node.port}`;
  }

  async startMongodb() {
    const { logDirectory, ports, processes, installed } = this.#context;
    // The same port inside as outside, because the replica set sends its own address to clients.
    const [port] = ports.mongodb;
    const command = [MONGODB_IMAGE, 'mongod', ...mongodArguments(port)];
    this.#launch('mongod', port, MONGODB_IMAGE_DATA, command);
    await installed;
    return initiateReplicaSet({ ports: [port], logFile: join(logDirectory, 'mongod.log'), processes });
  }

  /**
   * @param {string} name
   * @param {number} port
   * @param {string} data
   * @param {string[]} rest options, image and command
   */
  #launch(name, port, data, rest) {
    const container = `payment-gateway-${checkoutId}-${name}`;
    const options = ['--rm', '--name', container, '--label', `payment-gateway.checkout=${checkoutId}`];
    const places = ['--publish', `127.0.0.1:${port}:${port}`, '--volume', `${container}:${data}`];
    this.#context.processes.launch('server', name, {
      command: 'docker',
      args: ['run', ...options, ...places, ...rest],
      container,
    });
  }
}
