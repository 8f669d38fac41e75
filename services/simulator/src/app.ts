import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { Secret, services, simulatorTakes } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import type { IsStarted, Logger, OnStop, Registry, Service } from '@gateway/service-kit';
import {
  aboutOf,
  allowsPlainInternalPorts,
  Counter,
  createMetrics,
  createService,
  openCertificate,
  openInternalAccess,
  openInternalCertificate,
  repeat,
  startOpsServer,
} from '@gateway/service-kit';
import { acquirerRoutes } from './adapters/http/acquirer';
import { acsRoutes, CHALLENGE_PATH } from './adapters/http/acs';
import { bankRoutes } from './adapters/http/bank';
import type { OnAuthentication, OnResult } from './adapters/http/directory';
import { createResultSender, directoryRoutes } from './adapters/http/directory';
import type { OnAnswer } from './adapters/http/keyed';
import { ledgerRoutes } from './adapters/http/ledger';
import { createServing } from './adapters/http/serving';
import { createAcquirerRecords } from './adapters/mongo/acquirer';
import { createAuthentications } from './adapters/mongo/authentication';
import { createBankRecords, createPayoutReturns } from './adapters/mongo/bank';
import type { AcsPorts, DirectoryPorts } from './application/authentication';
import { attemptResult, sendDueResults } from './application/authentication';
import type { SimulatorConfig } from './config';

export type { SimulatorConfig } from './config';
export { readConfig } from './config';

const AUTHCODE_LENGTH = 6;
const AUTHENTICATION_VALUE_BYTES = 20;
const DUE_RESULTS_EVERY_MS = 250;

/** `internal`: where the counterparts and the ledger are; the same as `http` unless they have a port of their own. */
export type Simulator = Service<{ http: number; internal: number; ops: number }>;

export interface SimulatorDeps {
  config: SimulatorConfig;
  logger: Logger;
  metrics?: Registry;
  /** Epoch ms. */
  now?: () => number;
}

/** Plays the gateway's counterparts in the sandbox over real HTTP, and keeps a ledger of what they did. */
export function createSimulator(deps: SimulatorDeps): Simulator {
  return createService((onStop, isStarted) => open(deps, onStop, isStarted));
}

async function open(deps: SimulatorDeps, onStop: OnStop, isStarted: IsStarted): Promise<Simulator['ports']> {
  const { config, logger, now = Date.now } = deps;
  const metrics = deps.metrics ?? createMetrics('simulator', { processFigures: false });
  const mongo = await connectMongo({
    uri: config.MONGODB_URI,
    database: config.DATABASE_PREFIX + services.simulator.database,
  });
  onStop(() => mongo.close());
  const acquired = await createAcquirerRecords(mongo);
  const payouts = await createBankRecords(mongo);
  const returns = await createPayoutReturns(mongo);
  const authentications = await createAuthentications(mongo);
  const takes = (currency: string) => simulatorTakes(currency, config.ALLOW_SIMULATED_MONEY);
  const directory: DirectoryPorts = {
    authentications,
    now,
    newTransactionId: randomUUID,
    newAuthenticationValue: () => randomBytes(AUTHENTICATION_VALUE_BYTES).toString('base64'),
    sendResult: createResultSender({
      key: new Secret(Buffer.from(config.DS_MESSAGE_KEY, 'base64')),
      logger,
      onResult: countResults(metrics),
    }),
  };
  const acs: AcsPorts = {
    authentications,
    now,
    reportResult: (challenge) => attemptResult(directory, challenge),
  };

  const access = openInternalAccess(config, { logger, metrics });
  onStop(() => access.stop());
  access.start();
  const internalTls = openInternalCertificate(config, { logger, metrics });
  if (internalTls !== undefined) onStop(() => internalTls.stop());
  internalTls?.start();
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    access,
    tls: internalTls,
    alsoPlain: allowsPlainInternalPorts(config),
    about: aboutOf('simulator', config),
    readiness: () => ({ started: isStarted(), database: mongo.healthy() }),
    metrics,
  });
  onStop(() => ops.close(0));
  const dueResults = repeat({
    name: 'sending due result messages',
    everyMs: DUE_RESULTS_EVERY_MS,
    work: () => sendDueResults(directory),
    logger,
  });
  onStop(() => dueResults.stop());
  // Called only once the server listens.
  const acsURL = (): string =>
    (config.SIMULATOR_PUBLIC_URL ?? `http://127.0.0.1:${ports.http}`).replace(/\/$/, '') + CHALLENGE_PATH;
  const tls = openCertificate(config, { logger, metrics });
  if (tls !== undefined) onStop(() => tls.stop());
  tls?.start();
  const serve = createServing({ config, logger, metrics, tls, access, onStop });
  const ports = await serve({
    pages: acsRoutes(acs, acsURL),
    counterparts: [
      ...acquirerRoutes({ records: acquired, now, newAuthcode }, takes, countAnswers(metrics, 'acquirer')),
      ...bankRoutes({ records: payouts, returns, now }, takes, countAnswers(metrics, 'bank')),
      ...directoryRoutes({ ports: directory, acsURL, takes, onAuthentication: countAuthentications(metrics) }),
      ...ledgerRoutes([acquired, payouts, returns]),
    ],
  });
  dueResults.start();
  logger.info('listening', { ...ports, opsPort: ops.port });
  return { ...ports, ops: ops.port };
}

function countAnswers(metrics: Registry, counterpart: 'acquirer' | 'bank'): OnAnswer {
  const answers = new Counter({
    name: `simulator_${counterpart}_answers_total`,
    help: `Requests to the simulated ${counterpart}, by operation and kind of answer`,
    labelNames: ['operation', 'answer'],
    registers: [metrics],
  });
  return (labels) => answers.inc(labels);
}

function countAuthentications(metrics: Registry): OnAuthentication {
  const answers = new Counter({
    name: 'simulator_directory_answers_total',
    help: 'Answers of the simulated directory server: a transStatus, unavailable, or error',
    labelNames: ['answer'],
    registers: [metrics],
  });
  return (labels) => answers.inc(labels);
}

function countResults(metrics: Registry): OnResult {
  const attempts = new Counter({
    name: 'simulator_result_attempts_total',
    help: 'Attempts of the simulated directory server to send the result of a challenge, by end',
    labelNames: ['end'],
    registers: [metrics],
  });
  return (labels) => attempts.inc(labels);
}

function newAuthcode(): string {
  return randomInt(36 ** AUTHCODE_LENGTH)
    .toString(36)
    .toUpperCase()
    .padStart(AUTHCODE_LENGTH, '0');
}
