import { createMetrics, main } from '@gateway/service-kit';
import { createSimulator } from './app';
import { settings } from './config';

const metrics = createMetrics('simulator', { processFigures: true });
main({ name: 'simulator', settings, create: ({ config, logger }) => createSimulator({ config, logger, metrics }) });
