import { main } from '@gateway/service-kit';
import { createAuthExpiry } from './app';
import { productionRules, settings } from './config';

main({ name: 'auth-expiry', settings, productionRules, create: createAuthExpiry });
