import { createLogger } from './logger';
import { repeat } from './repeat';
import { createService, runService } from './service';

const logger = createLogger({ service: 'test', level: 'silent' });
const EVENTS = ['SIGTERM', 'SIGINT', 'unhandledRejection', 'uncaughtException'] as const;

test('a service that calls onFatal is drained, and its process exits with 1', async () => {
  const listeners = EVENTS.map((event) => process.listeners(event as 'SIGTERM'));
  const ended = new Promise<unknown>((resolve) => {
    jest.spyOn(process, 'exit').mockImplementation((code) => resolve(code) as never);
  });
  let drained = 0;
  await runService(
    (onFatal) =>
      createService(async (onStop) => {
        const work = async () => onFatal(new Error('the consumer is dead'));
        const rounds = repeat({ name: 'a look', everyMs: 1, work, logger });
        onStop(() => void (drained += 1));
        onStop(() => rounds.stop());
        rounds.start();
        return {};
      }),
    logger,
  );
  expect(await ended).toBe(1);
  expect(drained).toBe(1);
  EVENTS.forEach((event, index) => {
    for (const listener of process.listeners(event as 'SIGTERM'))
      if (listeners[index]?.includes(listener) !== true) process.removeListener(event, listener);
  });
});

test('what a start leaves behind is collected after everything is open, and before the service is ready', async () => {
  const ownGc = Object.getOwnPropertyDescriptor(globalThis, 'gc');
  const steps: unknown[] = [];
  let isStarted = (): boolean => true;
  Object.defineProperty(globalThis, 'gc', {
    value: (options: unknown) => void steps.push({ options, started: isStarted() }),
    configurable: true,
  });
  const service = createService(async (_onStop, started) => {
    isStarted = started;
    steps.push('open');
    return {};
  });
  try {
    await service.start();
    const options = { type: 'major', execution: 'sync', flavor: 'last-resort' };
    expect(steps).toEqual(['open', { options, started: false }]);
    expect(isStarted()).toBe(true);
  } finally {
    if (ownGc === undefined) Reflect.deleteProperty(globalThis, 'gc');
    else Object.defineProperty(globalThis, 'gc', ownGc);
    await service.stop();
  }
});

describe('everything that a service opened', () => {
  const opened = (...closers: (() => Promise<unknown> | void)[]) =>
    createService(async (onStop) => {
      for (const close of closers) onStop(close);
      return {};
    });

  test('closes, even if one part fails to close', async () => {
    const closed: string[] = [];
    const service = opened(
      () => void closed.push('first'),
      () => Promise.reject(new Error('the database is away')),
      () => void closed.push('last'),
    );
    await service.start();
    await expect(service.stop()).rejects.toThrow('the database is away');
    expect(closed).toEqual(['last', 'first']);
    await service.stop();
  });

  test('closes if the start fails, and start() throws the reason of the start', async () => {
    const closed: string[] = [];
    const service = createService(async (onStop) => {
      onStop(() => void closed.push('first'));
      onStop(() => Promise.reject(new Error('the database is away')));
      throw new Error('the port is taken');
    });
    await expect(service.start()).rejects.toThrow('the port is taken');
    expect(closed).toEqual(['first']);
  });
});
