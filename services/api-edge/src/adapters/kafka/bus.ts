import type { CardCommand } from '@gateway/contracts';
import { AnnounceOutcome, EndCheckout, InitiatePayout, cardCommands } from '@gateway/contracts';
import type { BrokerProbe, Publisher, ReplyListener } from '@gateway/messaging';
import type { AnnouncingBus, Bus, CheckoutBus, PayoutCommand } from '../../application/ports';

/** Commands name the partition on which this replica listens for the reply, if it has one. */
export function createBus(options: {
  publisher: Publisher;
  probe: BrokerProbe;
  replies: Pick<ReplyListener, 'ownedPartition'>;
}): CheckoutBus & AnnouncingBus & Bus<CardCommand | PayoutCommand> {
  const { publisher, probe, replies } = options;
  return {
    available: () => probe.available() && !publisher.saturated(),
    publish(command) {
      if (command.type === 'InitiatePayout') {
        // No reply is needed: the merchant already got `pending`.
        return publisher.publish({ declaration: InitiatePayout, data: command.data, key: command.data.payoutId });
      }
      const replyPartition = replies.ownedPartition();
      return publisher.publish({
        declaration: cardCommands[command.type],
        data: command.data,
        key: command.data.paymentId,
        ...(replyPartition === undefined ? {} : { replyPartition }),
      });
    },
    announceOutcome: (data) => publisher.publish({ declaration: AnnounceOutcome, data, key: data.paymentId }),
    endCheckout: (data) => publisher.publish({ declaration: EndCheckout, data, key: data.paymentId }),
  };
}
