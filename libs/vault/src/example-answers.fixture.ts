import { Secret } from '@gateway/contracts';
import { ConfigurationError } from '@gateway/service-kit';
import { openAwsKms } from './aws-kms';

/** What AWS KMS answers, by the name of the call. */
export const EXAMPLE_ANSWERS = {
  unwrap: { KeyId: 'wrapping', Plaintext: Buffer.alloc(32, 'k').toString('base64'), EncryptionAlgorithm: 'X' },
} as const;

/** Of what a process says when its key is not unwrapped. */
const REFUSED = Buffer.alloc(0);

/** Credentials and region come from the environment. @param caFile PEM of the service's authority */
export async function exampleCalls(url: string, caFile: string) {
  const kms = await openAwsKms({ keyId: 'wrapping', endpoint: url, caFile, timeoutMs: 5_000 });
  const unwrap = () =>
    kms.unwrap({ setting: 'CARD_KEYS', id: 'k1' }, new Secret(Buffer.from('wrapped'))).catch((error: unknown) => {
      if (error instanceof ConfigurationError) return new Secret(REFUSED);
      throw error;
    });
  return { calls: { unwrap }, close: () => kms.close() };
}
