import { randomInt } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { ListeningServer, Logger, Registry, Service } from '@gateway/service-kit';
import { Counter, createMetrics, internalHost, listen, startOpsServer } from '@gateway/service-kit';
import type { OnAnswer } from './adapters/http/acquirer';
import { acquirerRoutes } from './adapters/http/acquirer';
import { ledgerRoutes } from './adapters/http/ledger';
import type { HttpListener } from './adapters/http/listener';
import { createHttpListener } from './adapters/http/listener';
import { createAcquirerRecords } from './adapters/mongo/acquirer-records';
import type { SimulatorConfig } from './config';

export type { SimulatorConfig } from './config';
export { readConfig } from './config';

const DRAIN_TIMEOUT_MS = 10_000;
const AUTHCODE_LENGTH = 6;

export interface Simulator extends Service {
  /** Where the counterparts are reached. Throws before `start` is done. */
  readonly port: number;
  /** Where health and metrics are. Throws before `start` is done. */
  readonly opsPort: number;
}

interface Running {
  mongo: MongoConnection;
  http: HttpListener;
  server: ListeningServer;
  ops: ListeningServer;
}

/** Plays the gateway's counterparts in the sandbox, over real HTTP, with a ledger of what they really did. */
export function createSimulator(options: { config: SimulatorConfig; logger: Logger; metrics?: Registry }): Simulator {
  const { config, logger } = options;
  const metrics = options.metrics ?? createMetrics('simulator', { processFigures: false });
  const onAnswer = countAnswers(metrics);
  let running: Running | undefined;

  async function open(mongo: MongoConnection): Promise<Running> {
    const records = await createAcquirerRecords(mongo);
    const http = createHttpListener({
      routes: [...acquirerRoutes({ records, now: Date.now, newAuthcode }, onAnswer), ...ledgerRoutes([records])],
      latencyMs: config.SIMULATOR_LATENCY_MS,
      silenceMs: config.SIMULATOR_SILENCE_MS,
      logger,
    });
    const server = await listen({ listener: http.listener, port: config.SIMULATOR_PORT, host: config.SIMULATOR_HOST });
    try {
      const ops = await startOpsServer({
        port: config.OPS_PORT,
        host: internalHost(config.SERVICE_TOKEN),
        readiness: () => ({ mongodb: mongo.healthy() }),
        metrics,
      });
      return { mongo, http, server, ops };
    } catch (error) {
      await server.close(0);
      throw error;
    }
  }

  function current(): Running {
    if (running === undefined) throw new Error('the simulator is not running');
    return running;
  }

  return {
    async start() {
      const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}simulator` });
      try {
        running = await open(mongo);
      } catch (error) {
        await mongo.close();
        throw error;
      }
      logger.info('listening', { port: running.server.port, opsPort: running.ops.port });
    },
    async stop() {
      if (running === undefined) return;
      const { mongo, http, server, ops } = running;
      running = undefined;
      const closed = server.close(DRAIN_TIMEOUT_MS);
      await http.stop();
      await closed;
      // Answers that were still on their way may have set off work of their own.
      await http.stop();
      await ops.close(0);
      await mongo.close();
    },
    get port() {
      return current().server.port;
    },
    get opsPort() {
      return current().ops.port;
    },
  };
}

function countAnswers(metrics: Registry): OnAnswer {
  const answers = new Counter({
    name: 'simulator_acquirer_answers_total',
    help: 'Requests to the simulated acquirer, by operation and kind of answer',
    labelNames: ['operation', 'answer'],
    registers: [metrics],
  });
  return (labels) => answers.inc(labels);
}

function newAuthcode(): string {
  return randomInt(36 ** AUTHCODE_LENGTH)
    .toString(36)
    .toUpperCase()
    .padStart(AUTHCODE_LENGTH, '0');
}
