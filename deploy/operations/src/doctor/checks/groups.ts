import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
import { describeGroup } from '@gateway/messaging';
import type { Check, Deployment } from '../check';

/** What the alerts tolerate for a few minutes. */
const OLDEST_SECONDS = 60;
const OLDEST = 'consumer_oldest_unhandled_seconds';

/** Services whose messages wait for handlers. The edge only listens for replies, and commits nothing. */
const workers: readonly ServiceDeclaration[] = Object.values<ServiceDeclaration>(services).filter(
  ({ name, consumes }) => consumes.length > 0 && name !== services.apiEdge.name,
);

/** Every group has a member, and handles its messages soon. */
export const groupsCheck: Check = {
  name: 'groups',
  async examine(deployment) {
    const found = await Promise.all(workers.map((service) => examineGroup(deployment, service)));
    const waiting = found.reduce((sum, group) => sum + group.waiting, 0);
    return {
      faults: found.flatMap(({ faults }) => faults),
      fine: `${workers.length} groups, ${waiting} messages wait`,
    };
  },
};

async function examineGroup(
  { kafka, config, replicas }: Deployment,
  { name, consumes }: ServiceDeclaration,
): Promise<{ waiting: number; faults: string[] }> {
  const prefix = config.TOPIC_PREFIX;
  const { members, waiting } = await describeGroup({ kafka, prefix, groupId: name, topics: consumes });
  if (members === 0) return { waiting, faults: [`Nobody reads for ${name}, and ${waiting} messages wait: start it.`] };
  const own = replicas.filter(({ service, silence }) => service === name && silence === undefined);
  const ages = own.map(({ metric }) => metric(OLDEST)).filter((age) => age !== undefined);
  return { waiting, faults: delaysOf(name, waiting, ages) };
}

/** @param ages of the oldest message in seconds, as each replica that knows it says */
export function delaysOf(service: string, waiting: number, ages: readonly number[]): string[] {
  if (ages.length === 0 && waiting > 0) {
    return [
      `${waiting} messages of ${service} wait, and no replica says for how long: name its replicas in OPS_URLS, or look at their logs.`,
    ];
  }
  const oldest = Math.max(0, ...ages);
  if (oldest <= OLDEST_SECONDS) return [];
  return [
    `A message of ${service} has waited for ${Math.floor(oldest)} s, and ${waiting} wait: look at message_handling_seconds and its log, or add replicas.`,
  ];
}
