import { Writable } from 'node:stream';
import type { Logger as WinstonLogger } from 'winston';
import { transports } from 'winston';
import type { Logger } from '@gateway/service-kit';
import { createLogger } from '@gateway/service-kit';

export interface CapturedLogs {
  /** Logs like every service, at the lowest level. */
  readonly logger: Logger;
  /** The text that would have been on standard output. */
  text(): string;
}

export function captureLogs(): CapturedLogs {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const logger = createLogger({ service: 'test', level: 'debug' });
  (logger as unknown as WinstonLogger).clear().add(new transports.Stream({ stream }));
  return { logger, text: () => lines.join('') };
}
