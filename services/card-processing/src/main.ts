import { main } from '@gateway/service-kit';
import { createCardProcessing } from './app';
import { settings } from './config';

main({ name: 'card-processing', settings, create: createCardProcessing });
