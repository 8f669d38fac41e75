import { Type } from '@sinclair/typebox';
import type { DataOf } from './message';
import { declareMessage } from './message';

/** Coordinates only, so whoever writes them can repeat a message that the reader has given up, and bring about no other. */
export const ReplayRequested = declareMessage(
  'deadLetterReplays',
  'ReplayRequested',
  'An operator asks the services that read its original topic to handle a dead letter again.',
  Type.Object({
    deadLetters: Type.String({ minLength: 1, maxLength: 128, description: 'The dead-letter topic, without prefix' }),
    partition: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    requestedBy: Type.String({ minLength: 1, maxLength: 128, description: 'The operator, as the audit log names him' }),
  }),
);
export type ReplayRequestedData = DataOf<typeof ReplayRequested>;
