import { main } from '@gateway/service-kit';
import { createCardProcessing } from './app';
import { productionRules, settings } from './config';

main({ name: 'card-processing', settings, productionRules, create: createCardProcessing });
