import type { Logger } from '@gateway/service-kit';
import { messageOf, repeat } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import { reconnectAdmin } from './reconnect-admin';
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
const DISCONNECT_TIMEOUT_MS = 1_000;

/** Asks the brokers once a second for the cluster's description. */
export function createBrokerProbe(options: { kafka: KafkaClient; logger: Logger }): BrokerProbe {
  const { kafka, logger } = options;
  const admin = kafka.admin({ retry: { retries: 0 } });
  let answered = false;

  async function ask(): Promise<void> {
    try {
      await within(ANSWER_TIMEOUT_MS, 'asking the brokers', admin.describeCluster());
      if (!answered) logger.info('the brokers answer');
      answered = true;
    } catch (error) {
      if (answered) logger.error('the brokers do not answer', { reason: messageOf(error) });
      answered = false;
      await reconnectAdmin(admin, ANSWER_TIMEOUT_MS);
    }
  }

  const asking = repeat({ name: 'asking the brokers', everyMs: ASK_EVERY_MS, work: ask, logger });
  return {
    async start() {
      await admin.connect();
      await ask();
      asking.start();
    },
    async stop() {
      await asking.stop();
      await within(DISCONNECT_TIMEOUT_MS, 'leaving the brokers', admin.disconnect()).catch(() => undefined);
    },
    available: () => answered,
  };
}
