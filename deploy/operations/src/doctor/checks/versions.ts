import { brokerReleases } from '@gateway/messaging';
import type { Check, Deployment } from '../check';
import type { Replica } from '../replicas';

/** Of Node, MongoDB and Kafka: tests run with no older ones. */
const OLDEST_NODE = 24;
const OLDEST_MONGODB = 6;

/** All replicas run the same build, and nothing is older than what is tested. */
export const versionsCheck: Check = {
  name: 'versions',
  async examine(deployment) {
    const { replicas } = deployment;
    const builds = namesBy(replicas, ({ about }) => about && `${about.version} (${about.commit})`);
    const nodes = namesBy(replicas, ({ about }) => about?.node);
    const profiles = namesBy(replicas, ({ about }) => about?.profile);
    const mongodb = await mongodbVersion(deployment);
    const brokers = await brokerReleases(deployment.kafka);
    const releases = [...new Set(brokers.flatMap(({ release }) => release ?? []))];
    const faults = [
      ...(builds.size > 1 ? [`Replicas run different builds: ${listed(builds)}. Finish the update.`] : []),
      ...(profiles.size > 1 ? [`Replicas have different profiles: ${listed(profiles)}. Set one NODE_ENV.`] : []),
      ...[...nodes]
        .filter(([version]) => majorOf(version) < OLDEST_NODE)
        .map(([version, names]) => `${names.join(', ')} on Node ${version}: run Node ${OLDEST_NODE} or later.`),
      ...brokers
        .filter(({ release }) => release === undefined)
        .map(({ broker }) => `The broker ${broker} is older than Kafka 3.1: update it.`),
      ...(releases.length > 1 ? [`Brokers run different releases (${releases.join(', ')}): finish the update.`] : []),
      ...(majorOf(mongodb) < OLDEST_MONGODB
        ? [`MongoDB is ${mongodb}: the gateway needs ${OLDEST_MONGODB}.0 or later.`]
        : []),
    ];
    const kafka = `Kafka ${releases.join()} or later`;
    const profile = [...profiles.keys()].join();
    return {
      faults,
      fine: `${[...builds.keys()].join() || 'no service'}${profile && ` in ${profile}`}, MongoDB ${mongodb}, ${kafka}`,
    };
  },
};

const majorOf = (version: string): number => Number.parseInt(version, 10);

function namesBy(replicas: readonly Replica[], of: (replica: Replica) => string | undefined): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const replica of replicas) {
    const value = of(replica);
    if (value !== undefined) names.set(value, [...(names.get(value) ?? []), replica.name]);
  }
  return names;
}

function listed(names: ReadonlyMap<string, readonly string[]>): string {
  return [...names].map(([value, replicas]) => `${value} on ${replicas.join(', ')}`).join('; ');
}

async function mongodbVersion({ database }: Deployment): Promise<string> {
  const { mongoose } = await database('admin');
  const { version } = await mongoose.getClient().db('admin').command({ buildInfo: 1 });
  return String(version);
}
