import { createLogger, loadConfig, runService } from '@gateway/service-kit';
import { createApiEdge } from './app';
import { settings } from './config';

const config = loadConfig(settings, process.env);
const logger = createLogger({ service: 'api-edge', level: config.LOG_LEVEL });

void runService(
  createApiEdge({
    config,
    logger,
    onFatal: (error) => {
      throw error;
    },
  }),
  logger,
);
