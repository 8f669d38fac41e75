import { createLogger, loadConfig, runService } from '@gateway/service-kit';
import { createCardProcessing } from './app';
import { settings } from './config';

const config = loadConfig(settings, process.env);
const logger = createLogger({ service: 'card-processing', level: config.LOG_LEVEL });

void runService(
  createCardProcessing({
    config,
    env: process.env,
    logger,
    onFatal: (error) => {
      throw error;
    },
  }),
  logger,
);
