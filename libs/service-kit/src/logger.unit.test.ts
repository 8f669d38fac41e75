import { Writable } from 'node:stream';
import winston from 'winston';
import { Secret } from '@gateway/contracts';
import { RetryableError } from './errors';
import { createLogger, LIKE_LINES_MAX } from './logger';
import { newTraceparent, runWithTrace } from './trace';

function captured() {
  const lines: Record<string, unknown>[] = [];
  const texts: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      texts.push(chunk.toString());
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const logger = createLogger({ service: 'test', level: 'info' }) as unknown as winston.Logger;
  logger.clear().add(new winston.transports.Stream({ stream }));
  return { lines, texts, logger };
}

test('a line is JSON with time, level, service and message', () => {
  const { lines, logger } = captured();
  logger.info('done', { reference: 'R' });
  expect(lines).toMatchObject([
    { level: 'info', message: 'done', service: 'test', reference: 'R', timestamp: expect.any(String) },
  ]);
});

test('every line written while a request is handled carries its trace', async () => {
  const { lines, logger } = captured();
  const trace = { correlationId: 'c-1', traceparent: newTraceparent() };
  await runWithTrace(trace, async () => {
    await Promise.resolve();
    logger.warn('inside');
  });
  logger.warn('outside');
  const [, traceId, spanId] = trace.traceparent.split('-');
  expect(lines[0]).toMatchObject({ correlationId: 'c-1', traceId, spanId });
  expect(lines[1]).not.toHaveProperty('correlationId');
});

test('secrets are not printed, and errors are printed without attached data', () => {
  const { lines, logger } = captured();
  const error = Object.assign(new Error('refused'), { code: 'E', config: { data: '4111111111111111' } });
  logger.error('failed', { card: new Secret('4111111111111111'), error });
  expect(JSON.stringify(lines)).not.toContain('4111');
  expect(lines[0]).toMatchObject({ card: '[redacted]', error: { name: 'Error', message: 'refused', code: 'E' } });
});

test('text that ends lines, controls terminals or changes the direction is escaped', () => {
  const { lines, texts, logger } = captured();
  const name = 'a\n\r\t\u0000\u001b\u007f\u0085\u009b\u2028\u2029\u202e\u2066b\u00e9';
  logger.info(name, { name });
  expect(lines).toMatchObject([{ message: name, name }]);
  expect(texts.join('').trimEnd()).toMatch(/^[\x20-\x7e\u00e9]+$/);
});

describe('warnings and errors with the same message', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('are thinned within a second, and counted, from whichever part of the service they come', () => {
    const { lines, logger } = captured();
    const parts = [logger, logger.child({ part: 'a' }), logger.child({ part: 'b' })];
    for (let index = 0; index < 1_000; index += 1) {
      parts[index % parts.length]?.error('failed', { index, error: new Error(`of ${index}`) });
    }
    logger.error('another');
    expect(lines.map(({ message }) => message)).toEqual([...Array<string>(LIKE_LINES_MAX).fill('failed'), 'another']);
    jest.advanceTimersByTime(1_000);
    expect(lines.slice(LIKE_LINES_MAX + 1)).toMatchObject([
      { level: 'error', message: 'failed', service: 'test', moreLikeThis: 1_000 - LIKE_LINES_MAX },
    ]);
  });

  test('are written again in the next second, without a count if none was left out', () => {
    const { lines, logger } = captured();
    for (let second = 0; second < 3; second += 1) {
      for (let index = 0; index < LIKE_LINES_MAX; index += 1) logger.warn('slow');
      jest.advanceTimersByTime(1_000);
    }
    expect(lines).toHaveLength(3 * LIKE_LINES_MAX);
    expect(lines.filter((line) => 'moreLikeThis' in line)).toEqual([]);
  });

  test('are not the lines of requests, of which each is written', () => {
    const { lines, logger } = captured();
    for (let index = 0; index < 1_000; index += 1) logger.info('answered', { index });
    expect(lines).toHaveLength(1_000);
  });
});

test('a transient fault has no stack', () => {
  const { lines, logger } = captured();
  logger.error('failed', { error: new RetryableError('busy') });
  logger.error('failed', { error: new Error('broken') });
  expect(lines).toMatchObject([
    { error: { message: 'busy' } },
    { error: { message: 'broken', stack: expect.any(String) } },
  ]);
  expect(lines[0]?.['error']).not.toHaveProperty('stack');
});
