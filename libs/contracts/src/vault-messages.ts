import { Type } from '@sinclair/typebox';
import { EpochMs } from './fields';
import type { DataOf } from './message';
import { declareMessage } from './message';

/** The key itself is encrypted for card-processing. Nothing else about a card or a CVV is in the message. */
export const CvvKeyIssued = declareMessage(
  'cvvKeys',
  'CvvKeyIssued',
  'A replica of api-edge encrypts CVVs with this key from now on, for five minutes at most.',
  Type.Object({
    keyId: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' }),
    issuedAt: EpochMs,
    recipientKeyId: Type.String({ maxLength: 32, description: 'The key of CVV_KEYS that opens it' }),
    tokenKeyId: Type.String({ maxLength: 32, description: 'The key of TOKEN_KEYS whose holder issued it' }),
    sealed: Type.String({ pattern: '^[A-Za-z0-9+/]{100,400}={0,2}$', description: 'The key, encrypted; base64' }),
  }),
);
export type CvvKeyIssuedData = DataOf<typeof CvvKeyIssued>;
