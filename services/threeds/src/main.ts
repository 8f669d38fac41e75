import { main } from '@gateway/service-kit';
import { createThreeds } from './app';
import { settings } from './config';

main({ name: 'threeds', settings, create: createThreeds });
