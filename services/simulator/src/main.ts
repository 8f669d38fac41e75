import { createLogger, createMetrics, messageOf, runService } from '@gateway/service-kit';
import { createSimulator, readConfig } from './app';

try {
  const config = readConfig(process.env);
  const logger = createLogger({ service: 'simulator', level: config.LOG_LEVEL });
  const metrics = createMetrics('simulator', { processFigures: true });
  void runService(() => createSimulator({ config, logger, metrics }), logger);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
