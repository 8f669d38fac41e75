import type { Logger } from '@gateway/service-kit';
import { messageOf, repeat } from '@gateway/service-kit';
import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';
import { topicOf } from './topics';
import { within } from './within';

/** Tells whether a broker answers, so that work can be refused before it is begun. */
export interface BrokerProbe {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** False from the first question that found no answer until the first that finds one. */
  available(): boolean;
}

const ASK_EVERY_MS = 1_000;
/** A loaded broker takes seconds; what is given to it waits for as long. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Probes the brokers once a second. One answer is enough, so a frozen broker does not matter. */
export function createBrokerProbe(options: { kafka: KafkaClient; topicPrefix?: string; logger: Logger }): BrokerProbe {
  const { kafka, logger } = options;
  const topic = topicOf(options.topicPrefix, 'cardCommands');
  const brokers = createAnyBroker(kafka.links);
  let answered = false;

  async function ask(): Promise<void> {
    try {
      await within(ANSWER_TIMEOUT_MS, 'asking the brokers', brokers.metadata([topic]));
      if (!answered) logger.info('the brokers answer');
      answered = true;
    } catch (error) {
      if (answered) logger.error('the brokers do not answer', { reason: messageOf(error) });
      answered = false;
    }
  }

  const asking = repeat({ name: 'asking the brokers', everyMs: ASK_EVERY_MS, work: ask, logger });
  return {
    async start() {
      await ask();
      asking.start();
    },
    async stop() {
      brokers.close();
      await asking.stop();
    },
    available: () => answered,
  };
}
