import { readFileSync } from 'node:fs';
import { Failure } from '../failure.mjs';
import { requireReplicaSet } from './mongodb.mjs';
import { answers } from './ports.mjs';

/**
 * Servers that already run, named by KAFKA_BROKERS and MONGODB_URI; only checks that they answer.
 * @implements {ServerProvider}
 * @typedef {import('./provide-servers.mjs').ServerProvider} ServerProvider
 */
export class GivenServers {
  #env;
  #context;

  /**
   * @param {NodeJS.ProcessEnv} env
   * @param {import('./provide-servers.mjs').ServerContext} context
   */
  constructor(env, context) {
    this.#env = env;
    this.#context = context;
  }

  async startKafka() {
    const brokers = this.#env.KAFKA_BROKERS ?? '';
    for (const broker of brokers.split(',')) {
      const { hostname, port } = new URL(`kafka://${broker.trim()}`);
      if (await answers({ host: hostname, port: Number(port) })) return brokers;
    }
    throw new Failure(`No broker of KAFKA_BROKERS (${brokers}) accepts connections: start it, or unset KAFKA_BROKERS.`);
  }

  async startMongodb() {
    const { MONGODB_URI, MONGODB_URI_FILE } = this.#env;
    const uri = MONGODB_URI_FILE ? readFileSync(MONGODB_URI_FILE, 'utf8').trim() : (MONGODB_URI ?? '');
    await this.#context.installed;
    await requireReplicaSet(uri, this.#context.processes);
    return uri;
  }
}
