import { Type } from '@sinclair/typebox';
import {
  calledAddress,
  internalTlsCallerSettings,
  kafkaSchema,
  mongoSchema,
  operatorSettings,
} from '@gateway/service-kit';
import { settings as doctor } from './doctor/settings';

/** What command lines read besides the secrets of one of them: the chart gives it to each that it runs as a Job. */
export const commandSettings = Type.Object({
  ...kafkaSchema.properties,
  ...mongoSchema.properties,
  ...operatorSettings.properties,
  ...internalTlsCallerSettings,
  OPS_URLS: doctor.properties.OPS_URLS,
  PAYOUT_QUERY_URL: calledAddress({ whose: 'own', description: 'Internal port of payout' }),
  CALLBACK_ADMIN_URL: calledAddress({ whose: 'own', description: 'Internal port of callback-dispatcher' }),
});
