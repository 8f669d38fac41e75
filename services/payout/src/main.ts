import { main } from '@gateway/service-kit';
import { createPayout } from './app';
import { productionRules, settings } from './config';

main({ name: 'payout', settings, productionRules, create: createPayout });
