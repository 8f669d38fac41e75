import { ConfigurationError } from '@gateway/service-kit';
import { openAwsKms } from './aws-kms';
import type { KeyProvider, KeyProviderConfig } from './key-provider';

const settingsProvider: KeyProvider = {
  unwrap: async (_name, entry) => entry,
  wrap: async (_name, key) => key.expose(),
  close: () => undefined,
};

export async function openKeyProvider(config: KeyProviderConfig): Promise<KeyProvider> {
  if (config.KEY_PROVIDER !== 'aws-kms') return settingsProvider;
  const { KMS_KEY_ID: keyId, KMS_ENDPOINT: endpoint, KMS_CA_FILE: caFile } = config;
  const { KMS_TIMEOUT_MS: timeoutMs = 10_000 } = config;
  if (keyId === undefined)
    throw new ConfigurationError('Configuration: KMS_KEY_ID is not set, and KEY_PROVIDER=aws-kms needs it.');
  return openAwsKms({ keyId, endpoint, caFile, timeoutMs });
}
