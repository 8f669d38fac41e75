import { main } from '@gateway/service-kit';
import { createApiEdge } from './app';
import { settings } from './config';

main({ name: 'api-edge', settings, create: createApiEdge });
