import { createLogger, loadConfig, messageOf, runService } from '@gateway/service-kit';
import { createCardProcessing } from './app';
import { settings } from './config';

try {
  const config = loadConfig(settings, process.env);
  const logger = createLogger({ service: 'card-processing', level: config.LOG_LEVEL });
  void runService((onFatal) => createCardProcessing({ config, env: process.env, logger, onFatal }), logger);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
