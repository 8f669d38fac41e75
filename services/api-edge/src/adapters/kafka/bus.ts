import type { CardCommand } from '@gateway/contracts';
import { cardCommands, EndCheckout } from '@gateway/contracts';
import type { BrokerProbe, Publisher, ReplyListener } from '@gateway/messaging';
import type { CheckoutBus } from '../../application/ports';

/** Commands go out with the partition on which this replica listens for the reply, if it has one. */
export function createBus(options: {
  publisher: Publisher;
  probe: BrokerProbe;
  replies: Pick<ReplyListener, 'ownedPartition'>;
}): CheckoutBus {
  const { publisher, probe, replies } = options;
  return {
    available: () => probe.available() && !publisher.saturated(),
    publish(command: CardCommand) {
      const replyPartition = replies.ownedPartition();
      return publisher.publish({
        declaration: cardCommands[command.type],
        data: command.data,
        key: command.data.paymentId,
        ...(replyPartition === undefined ? {} : { replyPartition }),
      });
    },
    endCheckout: (data) => publisher.publish({ declaration: EndCheckout, data, key: data.paymentId }),
  };
}
