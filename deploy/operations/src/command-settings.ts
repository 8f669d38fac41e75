import { Type } from '@sinclair/typebox';
import { kafkaSchema, mongoSchema, operatorSettings, ownAddress } from '@gateway/service-kit';
import { settings as doctor } from './doctor/settings';

/** What command lines read besides the secrets of one of them: the chart gives it to each that it runs as a Job. */
export const commandSettings = Type.Object({
  ...kafkaSchema.properties,
  ...mongoSchema.properties,
  ...operatorSettings.properties,
  INTERNAL_TLS_CA_FILE: doctor.properties.INTERNAL_TLS_CA_FILE,
  OPS_URLS: doctor.properties.OPS_URLS,
  PAYOUT_QUERY_URL: ownAddress({ description: 'Internal port of payout' }),
  CALLBACK_ADMIN_URL: ownAddress({ description: 'Internal port of callback-dispatcher' }),
});
