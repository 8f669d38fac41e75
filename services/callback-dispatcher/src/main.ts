import { main } from '@gateway/service-kit';
import { createCallbackDispatcher } from './app';
import { productionRules, settings } from './config';

main({ name: 'callback-dispatcher', settings, productionRules, create: createCallbackDispatcher });
