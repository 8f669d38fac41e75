import type { Logger } from '@gateway/service-kit';

/** A logger that appends its messages to `lines`: text, fields as JSON, stack of the error. */
export function recordingLogger(lines: string[]): Logger {
  const write = (message: string, fields: Record<string, unknown> = {}): void => {
    const { error, ...others } = fields;
    lines.push(`${message} ${JSON.stringify(others)} ${error instanceof Error ? (error.stack ?? '') : ''}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}
