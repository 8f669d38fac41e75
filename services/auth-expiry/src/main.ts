import { main } from '@gateway/service-kit';
import { createAuthExpiry } from './app';
import { settings } from './config';

main({ name: 'auth-expiry', settings, create: createAuthExpiry });
