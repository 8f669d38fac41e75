import type { MessageDeclaration, ServiceDeclaration, TopicName } from '@gateway/contracts';
import type { MessageHandler, ProgressKeeper, WorkerOptions } from '@gateway/messaging';
import { createWorker } from '@gateway/messaging';
import type { Outbox } from '@gateway/mongo';
import type {
  CommonConfig,
  InternalRoutes,
  IsStarted,
  HeldKeys,
  ListeningServer,
  OnStop,
  PublicPortOptions,
  ReloadedCertificate,
  Service,
} from '@gateway/service-kit';
import {
  aboutOf,
  allowsPlainInternalPorts,
  createInternalApi,
  createService,
  listen,
  listenPublicly,
  openInternalAccess,
  openInternalCertificate,
  startOpsServer,
} from '@gateway/service-kit';
import type { Frame, ServiceDeps } from './frame';
import { openFrame } from './frame';
import type { RecoveryWatch } from './recovery';

/** Something that runs while the service does. */
export interface Part {
  start?(): Promise<unknown> | void;
  /** Also called if `start` failed or was never called. `drainTimeoutMs`: for work in progress. */
  stop(drainTimeoutMs: number): Promise<unknown> | void;
}

/** What a service adds to the frame. `Port`: names of its ports. */
export interface Parts<Port extends string = never> {
  /** What handlers and loops depend on. Starts before them, in this order, and stops after them. */
  beside?: readonly Part[];
  worker?: Pick<WorkerOptions, 'handlers' | 'otherTypes' | 'onDeadLetter' | 'limits'>;
  /** Periodic work. Starts after the worker and stops together with it. */
  loops?: readonly Part[];
  /** For other services and operators. Opens before the worker and closes after it, so that queries work during a drain. */
  internal?: { name: Port; port: number; routes: readonly InternalRoutes[] };
  /** For merchants and browsers. Opens last and closes first, so that running requests still get their answers. */
  public?: {
    name: Port;
    drainTimeoutMs?: number;
    /** Ends requests that only wait. Must not throw. */
    onClosing?: () => void;
    tls?: ReloadedCertificate | undefined;
  } & Omit<PublicPortOptions, 'metrics' | 'tls' | 'isProduction'>;
  /** Messages of the hot path: their validators are compiled before the service is ready. */
  hotMessages?: readonly Pick<MessageDeclaration, 'prepare'>[];
  /** Checks beside those of the frame, or in their place. */
  readiness?: () => Record<string, boolean>;
}

/** For requests in progress when a port closes. */
const REQUESTS_DRAIN_TIMEOUT_MS = 5_000;
/** For calls in progress. Any replica continues with what is left. */
const CALLS_DRAIN_TIMEOUT_MS = 8_000;

export interface FramedServiceOptions<
  Config extends CommonConfig,
  Deps extends ServiceDeps<Config>,
  Port extends string,
> {
  service: ServiceDeclaration;
  deps: Deps;
  /** Builds what is special to the service. Registers what it opens with the frame. */
  open: (frame: Frame<Config>, deps: Deps) => Promise<Parts<Port>>;
}

/**
 * A service on the frame that all services share: database, clock, Kafka, ops server, publisher, outbox, worker. They
 * open in a fixed order and close in reverse, also when the start fails half-way.
 */
export function createFramedService<
  Config extends CommonConfig,
  Deps extends ServiceDeps<Config>,
  Port extends string = never,
>(options: FramedServiceOptions<Config, Deps, Port>): Service<Record<Port | 'ops', number>> {
  return createService(async (onStop, isStarted) => {
    const { frame, outboxes, heldKeys, recovery } = await openFrame(options, onStop);
    const parts = await options.open(frame, options.deps);
    return run({ ...options, frame, outboxes, heldKeys, recovery, parts, onStop, isStarted });
  });
}

interface Opened<Port extends string> {
  service: ServiceDeclaration;
  deps: Pick<ServiceDeps<CommonConfig>, 'onFatal'>;
  frame: Frame<CommonConfig>;
  outboxes: readonly Outbox[];
  heldKeys: HeldKeys;
  recovery: RecoveryWatch;
  parts: Parts<Port>;
  onStop: OnStop;
  isStarted: IsStarted;
}

async function run<Port extends string>(opened: Opened<Port>): Promise<Record<Port | 'ops', number>> {
  const { frame, parts, onStop } = opened;
  const { publisher, metrics, logger } = frame;
  const ports: Record<string, number> = {};
  const access = openInternalAccess(frame.config, { metrics, logger });
  onStop(() => access.stop());
  access.start();

  async function serve(name: string, opening: Promise<ListeningServer>, drainTimeoutMs = REQUESTS_DRAIN_TIMEOUT_MS) {
    const server = await opening;
    onStop(() => server.close(drainTimeoutMs));
    ports[name] = server.port;
  }

  async function start(...together: readonly Part[]): Promise<void> {
    onStop(() => Promise.all(together.map(async (part) => part.stop(CALLS_DRAIN_TIMEOUT_MS))));
    for (const part of together) await part.start?.();
  }

  const tls = openInternalCertificate(frame.config, frame);
  const alsoPlain = allowsPlainInternalPorts(frame.config);
  if (tls !== undefined) await start(tls);
  const worker = workerOf(opened);
  const ops = await startOpsServer({
    port: frame.config.OPS_PORT,
    access,
    tls,
    alsoPlain,
    about: aboutOf(opened.service.name, frame.config, opened.heldKeys),
    metrics,
    readiness: () => ({
      started: opened.isStarted(),
      clock: frame.clock.ready(),
      database: frame.databasesHealthy(),
      login: frame.mongo.login.accepted(),
      ...(worker !== undefined && { consumer: worker.ready() }),
      permitted: publisher.permitted(),
      ...parts.readiness?.(),
    }),
    mode: () => (opened.recovery.current() === undefined ? 'ordinary' : 'recovery'),
  });
  onStop(() => ops.close(REQUESTS_DRAIN_TIMEOUT_MS));
  ports['ops'] = ops.port;
  if (parts.internal !== undefined) {
    const { name, port, routes } = parts.internal;
    const listener = createInternalApi({ routes, access, logger });
    await serve(name, listen({ listener, port, host: access.host, tls, alsoPlain }));
  }
  for (const message of parts.hotMessages ?? []) message.prepare();
  for (const part of [opened.recovery, publisher, ...opened.outboxes, ...(parts.beside ?? [])]) await start(part);
  await start(...(worker === undefined ? [] : [worker]), ...(parts.loops ?? []));
  if (parts.public !== undefined) {
    if (parts.public.tls !== undefined) await start(parts.public.tls);
    const isProduction = frame.config.NODE_ENV === 'production';
    const opening = listenPublicly({ ...parts.public, isProduction, metrics });
    await serve(parts.public.name, opening, parts.public.drainTimeoutMs);
    onStop(() => parts.public?.onClosing?.());
  }
  return ports;
}

function workerOf({ service, deps, frame, recovery, parts }: Opened<string>) {
  if (parts.worker === undefined) return undefined;
  assertDeclared(service, parts.worker.handlers);
  const { kafka, topicPrefix, publisher, tracer, metrics, logger } = frame;
  const { name: groupId, consumes } = service;
  const { onFatal } = deps;
  const frameParts = { kafka, topicPrefix, publisher, tracer, metrics, logger };
  const replays = consumes.includes(REPLAYS);
  const progress: ProgressKeeper = {
    save: recovery.save,
    async compare(positions) {
      const starts = await recovery.compare(positions);
      return service.readsLostAgain === true ? starts : [];
    },
  };
  return createWorker({ ...parts.worker, ...frameParts, groupId, replays, progress, onFatal });
}

/** The worker handles these itself. */
const REPLAYS: TopicName = 'deadLetterReplays';

/** The rights of the service's user follow from the declaration, so it has to be what the service really does. */
function assertDeclared({ name, consumes }: ServiceDeclaration, handlers: readonly MessageHandler[]): void {
  const handled = new Set(handlers.map(({ declaration }) => declaration.topic));
  const wrong = [...handled, ...consumes.filter((topic) => topic !== REPLAYS)].filter(
    (topic) => !handled.has(topic) || !consumes.includes(topic),
  );
  if (wrong.length > 0) throw new Error(`${name} declares other topics than it handles: ${wrong.join(', ')}`);
}
