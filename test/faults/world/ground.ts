import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';

/** Servers, topics and databases of one run. */
export interface Ground {
  space: Space;
  close(): Promise<void>;
}

/** On the servers that KAFKA_BROKERS and MONGODB_URI name. */
export async function openGround(): Promise<Ground> {
  const { KAFKA_BROKERS: brokers = '', MONGODB_URI: mongoUri = '' } = process.env;
  process.env['TEST_KAFKA_BROKERS'] = brokers;
  process.env['TEST_MONGODB_URI'] = mongoUri;
  const space = await openSpace('faults');
  return { space, close: () => space.remove() };
}
