import { Secret } from '@gateway/contracts';
import { ConfigurationError, messageOf, readAuthority, tlsClientOptions } from '@gateway/service-kit';
import type { EntryName, KeyProvider } from './key-provider';

export interface AwsKmsOptions {
  keyId: string;
  /** Default: that of the region. */
  endpoint: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile: string | undefined;
  /** For a call with its retries. */
  timeoutMs: number;
}

/**
 * Keys that AWS KMS has wrapped. Region and credentials come from where the AWS client finds them (`AWS_REGION`, …). The
 * encryption context names setting and id, so a wrapped key does not open as another. The client is large, so it is loaded
 * only when it is used.
 */
export async function openAwsKms({ keyId: KeyId, endpoint, caFile, timeoutMs }: AwsKmsOptions): Promise<KeyProvider> {
  const { DecryptCommand, EncryptCommand, KMSClient } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      httpsAgent: tlsClientOptions(caFile === undefined ? {} : { ca: readAuthority(caFile) }),
    },
  });
  const limit = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });
  const contextOf = ({ setting, id }: EntryName) => ({ EncryptionContext: { setting, id } });

  return {
    async unwrap(name, entry) {
      try {
        const wrapped = { KeyId, CiphertextBlob: entry.expose(), ...contextOf(name) };
        const { Plaintext = new Uint8Array() } = await client.send(new DecryptCommand(wrapped), limit());
        return new Secret(Buffer.from(Plaintext));
      } catch (error) {
        throw new ConfigurationError(
          `AWS KMS does not unwrap key "${name.id}" of ${name.setting}: ${messageOf(error)}`,
          {
            cause: error,
          },
        );
      }
    },
    async wrap(name, key) {
      const command = new EncryptCommand({ KeyId, Plaintext: key.expose(), ...contextOf(name) });
      const { CiphertextBlob = new Uint8Array() } = await client.send(command, limit());
      return Buffer.from(CiphertextBlob);
    },
    close: () => client.destroy(),
  };
}
