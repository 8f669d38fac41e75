import type { Static, TObject } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { Secret } from '@gateway/contracts';
import { authorityFile, calledAddress } from '@gateway/service-kit';

/** Where the settings of keys get their meaning. Every setting may also come from a file (`CARD_KEYS_FILE`). */
export const keyProviderSettings = {
  KEY_PROVIDER: Type.Union([Type.Literal('settings'), Type.Literal('aws-kms')], {
    default: 'settings',
    description: '`settings`: the settings hold the keys; `aws-kms`: they hold keys that AWS KMS has wrapped',
  }),
  KMS_KEY_ID: Type.Optional(
    Type.String({ minLength: 1, description: 'The key of AWS KMS that wraps the others; `aws-kms` needs it' }),
  ),
  KMS_ENDPOINT: Type.Optional(calledAddress({ description: 'AWS KMS, if not at its usual address' })),
  KMS_CA_FILE: authorityFile('AWS KMS'),
  KMS_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 10_000,
    description: 'Time-out of a call to AWS KMS, with its retries; at the start of the process only',
  }),
};

export type KeyProviderConfig = Partial<Static<TObject<typeof keyProviderSettings>>>;

/** What an entry of a key setting belongs to. */
export interface EntryName {
  setting: string;
  id: string;
}

/** Gives the keys of settings their meaning. */
export interface KeyProvider {
  /** The key of an entry, once at the start. */
  unwrap(name: EntryName, entry: Secret<Buffer>): Promise<Secret<Buffer>>;
  /** The entry of a new key. */
  wrap(name: EntryName, key: Secret<Buffer>): Promise<Buffer>;
  close(): void;
}
