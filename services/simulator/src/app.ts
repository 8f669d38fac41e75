import { randomInt } from 'node:crypto';
import { connectMongo } from '@gateway/mongo';
import type { Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import { Counter, createMetrics, createService, internalHost, listen, startOpsServer } from '@gateway/service-kit';
import type { OnAnswer } from './adapters/http/acquirer';
import { acquirerRoutes } from './adapters/http/acquirer';
import { ledgerRoutes } from './adapters/http/ledger';
import { createHttpListener } from './adapters/http/listener';
import { createAcquirerRecords } from './adapters/mongo/acquirer-records';
import type { SimulatorConfig } from './config';

export type { SimulatorConfig } from './config';
export { readConfig } from './config';

const DRAIN_TIMEOUT_MS = 10_000;
const AUTHCODE_LENGTH = 6;

export type Simulator = Service<{ http: number; ops: number }>;

export interface SimulatorDeps {
  config: SimulatorConfig;
  logger: Logger;
  metrics?: Registry;
}

/** Plays the gateway's counterparts in the sandbox, over real HTTP, with a ledger of what they really did. */
export function createSimulator(deps: SimulatorDeps): Simulator {
  return createService((onStop) => open(deps, onStop));
}

async function open(deps: SimulatorDeps, onStop: OnStop): Promise<Simulator['ports']> {
  const { config, logger } = deps;
  const metrics = deps.metrics ?? createMetrics('simulator', { processFigures: false });
  const mongo = await connectMongo({ uri: config.MONGODB_URI, database: `${config.DATABASE_PREFIX}simulator` });
  onStop(() => mongo.close());
  const records = await createAcquirerRecords(mongo);

  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: internalHost(config.SERVICE_TOKEN),
    readiness: () => ({ mongodb: mongo.healthy() }),
    metrics,
  });
  onStop(() => ops.close(0));
  const http = createHttpListener({
    routes: [
      ...acquirerRoutes({ records, now: Date.now, newAuthcode }, countAnswers(metrics)),
      ...ledgerRoutes([records]),
    ],
    latencyMs: config.SIMULATOR_LATENCY_MS,
    silenceMs: config.SIMULATOR_SILENCE_MS,
    logger,
  });
  const server = await listen({ listener: http.listener, port: config.SIMULATOR_PORT, host: config.SIMULATOR_HOST });
  onStop(async () => {
    const closed = server.close(DRAIN_TIMEOUT_MS);
    await http.stop();
    await closed;
    // Answers that were still on their way may have set off work of their own.
    await http.stop();
  });
  logger.info('listening', { port: server.port, opsPort: ops.port });
  return { http: server.port, ops: ops.port };
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
