import { createMetrics, main } from '@gateway/service-kit';
import { createSimulator } from './app';
import { productionRules, settings } from './config';

const metrics = createMetrics('simulator', { processFigures: true });
main({
  name: 'simulator',
  settings,
  productionRules,
  create: ({ config, logger }) => createSimulator({ config, logger, metrics }),
});
