import { randomBytes, randomUUID } from 'node:crypto';
import { createClockFollower, openAccountDirectory } from '@gateway/accounts';
import { Secret, services } from '@gateway/contracts';
import { createHandle, registerOverdue } from '@gateway/mongo';
import type { Frame, Parts, ServiceDeps } from '@gateway/service-frame';
import { createFramedService } from '@gateway/service-frame';
import type { Service } from '@gateway/service-kit';
import {
  connectionLimitsOf,
  createBodyReader,
  createDetachedWork,
  keyListOf,
  openCertificate,
  openOutboundProxy,
  openRefusals,
} from '@gateway/service-kit';
import { openCardReader } from '@gateway/vault';
import { createDirectory } from './adapters/emv/directory';
import { BODY_TIMEOUT_MS, createPublicSite, NOTIFICATION_PATH, RESULTS_PATH } from './adapters/http/public-site';
import { commandHandlers, deadLetterHandler } from './adapters/kafka/commands';
import { publishEntries } from './adapters/kafka/publications';
import { createAuthentications } from './adapters/mongo/authentications';
import { countOutcomes } from './adapters/metrics';
import { announcer } from './application/announcements';
import { createAskAgain } from './application/ask-again';
import { expireChallenges } from './application/expire-challenges';
import { waitingChallenges } from './application/follow-clock';
import type { Ports } from './application/ports';
import { createProofs } from './application/proofs';
import type { Config } from './config';
import { evolve } from './domain/authentication';
import { ensureIndexes } from './indexes';

const EXPIRE_EVERY_MS = 1_000;
const ASK_AGAIN_EVERY_MS = 1_000;
/** Running and waiting calls, and answers not yet stored; at the bound, commands wait. */
const CALLS_UNDER_WAY_FACTOR = 4;
const PAGE_ID_BYTES = 24;
const SECOND_MS = 1_000;

export type Threeds = Service<{ http: number; ops: number }>;

export type ThreedsDeps = ServiceDeps<Config>;

/** Authenticates cardholders: asks the directory server, leads browsers through challenges, reports the result. */
export function createThreeds(deps: ThreedsDeps): Threeds {
  return createFramedService({ service: services.threeds, deps, open });
}

async function open(frame: Frame<Config>): Promise<Parts<'http'>> {
  const { config, mongo, clock, tracer, metrics, logger } = frame;
  const { THREEDS_PUBLIC_URL: publicUrl, THREEDS_RESULTS_URL: resultsUrl = publicUrl } = config;
  const authentications = createAuthentications(mongo, clock);
  await ensureIndexes(frame);
  registerOverdue({ metrics, now: clock.now, logger }, authentications.countOverdue);
  const { vault } = frame.database(await openCardReader({ ...frame.storage, ...config }));
  const accounts = frame.database(await openAccountDirectory(frame.storage));
  await accounts.requireSafe(config);
  const directory = createDirectory({
    url: config.DIRECTORY_SERVER_URL,
    timeoutMs: config.DIRECTORY_TIMEOUT_MS,
    identityToken: config.DIRECTORY_SERVER_TOKEN,
    caFile: config.DIRECTORY_SERVER_CA_FILE,
    proxy: openOutboundProxy(config, metrics),
    callsAtOnce: config.DIRECTORY_CALLS_AT_ONCE,
    own: { results: resultsUrl + RESULTS_PATH, notification: publicUrl + NOTIFICATION_PATH, publicUrl },
    isProduction: config.NODE_ENV === 'production',
    metrics,
    logger,
  });
  frame.onStop(() => directory.close());
  const outbox = frame.outbox(authentications.outboxes, publishEntries(frame.publisher));
  const calls = createDetachedWork({
    name: 'call to the directory server',
    max: CALLS_UNDER_WAY_FACTOR * config.DIRECTORY_CALLS_AT_ONCE,
    logger,
  });
  const proofs = createProofs(secretsOf(config.THREEDS_PROOF_KEY));
  const ports: Ports = {
    authentications,
    handle: createHandle({
      store: authentications,
      evolve,
      announce: announcer({ proofs, publicUrl }),
      publish: outbox.publish,
      onWritten: countOutcomes(metrics),
      now: clock.now,
      newId: randomUUID,
    }),
    cards: vault,
    accounts: accounts.directory,
    directory,
    calls,
    proofs,
    newPageId: () => randomBytes(PAGE_ID_BYTES).toString('base64url'),
    newId: randomUUID,
    now: clock.now,
    publicUrl,
    challengeTimeoutMs: config.CHALLENGE_TIMEOUT_SECONDS * SECOND_MS,
    tracer,
    logger,
  };
  const connections = connectionLimitsOf(config);
  return {
    beside: [calls],
    worker: { handlers: commandHandlers(ports), onDeadLetter: deadLetterHandler(ports) },
    loops: [
      frame.repeat({
        name: 'expiring challenges',
        everyMs: EXPIRE_EVERY_MS,
        work: (stopping) => expireChallenges(ports, stopping),
      }),
      createAskAgain(ports, ASK_AGAIN_EVERY_MS),
      createClockFollower({
        clocks: accounts.clocks,
        service: 'threeds',
        kinds: [waitingChallenges(ports)],
        now: clock.now,
        logger,
      }),
    ],
    public: {
      name: 'http',
      listener: (pace) =>
        createPublicSite({
          ports,
          messageKeys: secretsOf(config.DS_MESSAGE_KEY),
          bodies: createBodyReader(),
          pace,
          trustedProxies: connections.trustedProxies,
          refuse: openRefusals('page', { logger, metrics }),
          logger,
        }),
      port: config.THREEDS_PORT,
      host: config.HOST,
      tls: openCertificate(config, frame),
      requestTimeoutMs: BODY_TIMEOUT_MS,
      connections,
    },
  };
}

function secretsOf(setting: string): readonly [Secret<Buffer>, ...Secret<Buffer>[]] {
  const [first, ...others] = keyListOf(setting);
  return [new Secret(first), ...others.map((other) => new Secret(other))];
}
