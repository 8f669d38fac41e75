import winston from 'winston';
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

/** Errors print as name, message, code and stack: never their whole object, which may hold a request with card data. */
function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, message: value.message, code: (value as { code?: unknown }).code, stack: value.stack };
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

/** JSON lines on stdout. Secrets redact themselves by type: `Secret` prints `[redacted]`. */
export function createLogger(options: { service: string; level: LogLevel }): Logger {
  return winston.createLogger({
    level: options.level === 'silent' ? 'error' : options.level,
    silent: options.level === 'silent',
    defaultMeta: { service: options.service, pid: process.pid },
    format: winston.format.combine(
      withTrace(),
      winston.format.timestamp(),
      winston.format.json({ replacer: plainError }),
      printable(),
    ),
    transports: [new winston.transports.Console({ forceConsole: false })],
  });
}
