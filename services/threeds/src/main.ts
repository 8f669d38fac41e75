import { createLogger, loadConfig, messageOf, runService } from '@gateway/service-kit';
import { createThreeds } from './app';
import { settings } from './config';

try {
  const config = loadConfig(settings, process.env);
  const logger = createLogger({ service: 'threeds', level: config.LOG_LEVEL });
  void runService((onFatal) => createThreeds({ config, logger, onFatal }), logger);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
