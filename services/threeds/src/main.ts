import { main } from '@gateway/service-kit';
import { createThreeds } from './app';
import { productionRules, settings } from './config';

main({ name: 'threeds', settings, productionRules, create: createThreeds });
