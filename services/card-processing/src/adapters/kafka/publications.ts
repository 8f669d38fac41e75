import type { OperationOutcome } from '@gateway/contracts';
import { cardEvents, OperationReplied, paymentIdOf, threedsCommands } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';
import type { Logger } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

/** Separate records of a payment's operations use the payment's key. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, { ...cardEvents, ...threedsCommands }, paymentIdOf);
}

/** Sends an outcome to the partition on which its edge replica listens. If the reply is lost, the edge asks. */
export function sendReply(publisher: Publisher, logger: Logger): Ports['reply'] {
  return async (outcome: OperationOutcome, to) => {
    try {
      await publisher.publish({ declaration: OperationReplied, data: outcome, key: outcome.paymentId, ...to });
    } catch (error) {
      logger.warn('a reply is lost; the edge will ask', { reference: outcome.reference, error });
    }
  };
}
