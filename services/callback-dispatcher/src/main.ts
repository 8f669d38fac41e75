import { createLogger, loadConfig, messageOf, runService } from '@gateway/service-kit';
import { createCallbackDispatcher } from './app';
import { settings } from './config';

try {
  const config = loadConfig(settings, process.env);
  const logger = createLogger({ service: 'callback-dispatcher', level: config.LOG_LEVEL });
  void runService((onFatal) => createCallbackDispatcher({ config, logger, onFatal }), logger);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
