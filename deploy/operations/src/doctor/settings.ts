import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { Environment } from '@gateway/service-kit';
import {
  calledAddress,
  calledAddresses,
  commonSettings,
  identitySettings,
  internalTlsCallerSettings,
  loadConfig,
  secretText,
} from '@gateway/service-kit';
import { deploymentSettings } from '../settings';

/** The deployment should look as `npm run provision` would make it with the same settings. */
export const settings = Type.Object({
  ...deploymentSettings,
  ...identitySettings,
  CALLERS_FILE: commonSettings.CALLERS_FILE,
  ...internalTlsCallerSettings,
  OPS_URLS: Type.Optional(
    calledAddresses({
      whose: 'own',
      description:
        'Internal ports of the services: `api-edge=https://api-edge:9100,…`. A host with several addresses is that many replicas',
    }),
  ),
  SIGNING_PUBLIC_KEY: Type.Optional(
    // No secret, but it may be in a file, as for the command line that uses it.
    secretText({
      minLength: 1,
      description: 'That of `npm run merchant`. Set, it must be the public half of a key of callback-dispatcher',
    }),
  ),
  PUBLIC_BASE_URL: Type.Optional(calledAddress({ whose: 'public', description: 'Where merchants reach the gateway' })),
  THREEDS_PUBLIC_URL: Type.Optional(calledAddress({ whose: 'public', description: 'Where browsers reach threeds' })),
});

export type Config = Readonly<Static<typeof settings>>;

/** @throws ConfigurationError that names everything that is missing or wrong */
export function readConfig(env: Environment): Config {
  return loadConfig(settings, env);
}
