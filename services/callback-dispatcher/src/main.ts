import { main } from '@gateway/service-kit';
import { createCallbackDispatcher } from './app';
import { settings } from './config';

main({ name: 'callback-dispatcher', settings, create: createCallbackDispatcher });
