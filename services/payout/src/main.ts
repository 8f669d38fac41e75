import { createLogger, loadConfig, messageOf, runService } from '@gateway/service-kit';
import { createPayout } from './app';
import { settings } from './config';

try {
  const config = loadConfig(settings, process.env);
  const logger = createLogger({ service: 'payout', level: config.LOG_LEVEL });
  void runService((onFatal) => createPayout({ config, env: process.env, logger, onFatal }), logger);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
