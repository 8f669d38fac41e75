import { main } from '@gateway/service-kit';
import { createPayout } from './app';
import { settings } from './config';

main({ name: 'payout', settings, create: createPayout });
