import winston from 'winston';
import { isRetryable } from './errors';
import { currentTrace, parseTraceparent } from './trace';

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  child(fields: Record<string, unknown>): Logger;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Adds correlation id, trace and span to every line written while a request or message is handled. */
const withTrace = winston.format((line) => {
  const trace = currentTrace();
  if (trace !== undefined) {
    const { traceId, spanId } = parseTraceparent(trace.traceparent) ?? {};
    line['correlationId'] ??= trace.correlationId;
    line['traceId'] ??= traceId;
    line['spanId'] ??= spanId;
  }
  return line;
});

/** Warnings and errors of one message in a second. Further ones are counted. */
export const LIKE_LINES_MAX = 20;
const LIKE_LINES_MS = 1_000;
const THINNED_LEVELS: readonly string[] = ['warn', 'error'];
/** The line that counts the others has it. */
const MORE_LIKE_THIS = 'moreLikeThis';

/** Whoever can cause a fault can cause thousands a second, and each would print a stack. */
function createThinning(write: (line: winston.Logform.TransformableInfo) => void) {
  const kinds = new Map<string, number>();

  function countFrom(level: string, message: string, kind: string): void {
    setTimeout(() => {
      const more = (kinds.get(kind) ?? 0) - LIKE_LINES_MAX;
      kinds.delete(kind);
      if (more > 0) write({ level, message, [MORE_LIKE_THIS]: more });
    }, LIKE_LINES_MS).unref();
  }

  return winston.format((line) => {
    const { level, message } = line;
    if (!THINNED_LEVELS.includes(level) || MORE_LIKE_THIS in line) return line;
    const kind = `${level} ${String(message)}`;
    const count = (kinds.get(kind) ?? 0) + 1;
    kinds.set(kind, count);
    if (count === 1) countFrom(level, String(message), kind);
    return count <= LIKE_LINES_MAX && line;
  });
}

/**
 * Errors print as name, message, code and stack: never their whole object, which may hold a request with card data. A
 * transient fault has no stack: it says what is missing, not where the code is wrong.
 */
function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack } = value;
  const plain = { name, message, code: (value as { code?: unknown }).code };
  return isRetryable(value) ? plain : { ...plain, stack };
}

/** Winston's key of the text that transports write. */
const TEXT = Symbol.for('message');
/** JSON allows them in strings. Viewers take some for ends of lines; others let the sender of a value reorder the line. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_C}\u2028\u2029]/gu;

/** Escapes what could make one line look like several, or like another. */
const printable = winston.format((line) => {
  line[TEXT] = String(line[TEXT]).replace(UNPRINTABLE, escaped);
  return line;
});

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * JSON lines on stdout. Secrets redact themselves by type: `Secret` prints `[redacted]`. Of warnings and errors with the
 * same message, {@link LIKE_LINES_MAX} are written in a second; a last line has the number of the others.
 */
export function createLogger(options: { service: string; level: LogLevel }): Logger {
  const thinned = createThinning((line) => logger.log(line as winston.LogEntry));
  const logger = winston.createLogger({
    level: options.level === 'silent' ? 'error' : options.level,
    silent: options.level === 'silent',
    defaultMeta: { service: options.service, pid: process.pid },
    format: winston.format.combine(
      thinned(),
      withTrace(),
      winston.format.timestamp(),
      winston.format.json({ replacer: plainError }),
      printable(),
    ),
    transports: [new winston.transports.Console({ forceConsole: false })],
  });
  return logger;
}
