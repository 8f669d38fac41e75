import { startServers } from './servers';

/** Provides one Kafka and one MongoDB for the whole test run; tests find them in the environment. */
export default async function globalSetup(): Promise<void> {
  const { kafkaBrokers, mongodbUri } = await startServers();
  process.env['TEST_KAFKA_BROKERS'] = kafkaBrokers;
  process.env['TEST_MONGODB_URI'] = mongodbUri;
}
