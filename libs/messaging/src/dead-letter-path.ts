import type { RejectedMessage } from './dead-letters';
import { deadLetterFrom } from './dead-letters';
import type { Publisher } from './publisher';

/** Why a message is dead-lettered, and whether it is in the dead-letter topic already. */
export interface Rejection {
  readonly reason: string;
  published: boolean;
}

/** Moves a message to the dead letters, then calls its owner. May be repeated after an error. */
export type DeadLetterPath = (message: RejectedMessage, rejection: Rejection) => Promise<void>;

export function createDeadLetterPath(options: {
  publisher: Pick<Publisher, 'publishRaw'>;
  /** Full name of the dead-letter topic of a consumed topic. */
  deadLettersOf: (topic: string) => string | undefined;
  onDeadLetter: ((rejected: RejectedMessage) => Promise<void>) | undefined;
  onPublished: () => void;
}): DeadLetterPath {
  const { publisher, deadLettersOf, onDeadLetter, onPublished } = options;
  return async (rejected, rejection) => {
    if (!rejection.published) {
      const deadLetters = deadLettersOf(rejected.topic);
      if (deadLetters !== undefined) await publisher.publishRaw(deadLetterFrom({ ...rejected, deadLetters }));
      rejection.published = true;
      onPublished();
    }
    await onDeadLetter?.(rejected);
  };
}
