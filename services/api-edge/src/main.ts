import { main } from '@gateway/service-kit';
import { createApiEdge } from './app';
import { productionRules, settings } from './config';

main({ name: 'api-edge', settings, productionRules, create: createApiEdge });
