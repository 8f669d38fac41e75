import { missingAccess, neededAccess } from '@gateway/messaging';
import type { Check } from '../check';

/** Every user has what it needs at Kafka. */
export const accessCheck: Check = {
  name: 'access',
  async examine({ config, kafka }) {
    const needed = neededAccess(config.TOPIC_PREFIX);
    const principalOf = (user: string): string => config.KAFKA_PRINCIPAL.replaceAll('{user}', user);
    const missing = await missingAccess({ kafka, access: needed, principalOf });
    if (missing === 'no-authorizer') {
      const faults = ['Kafka checks no rights: set authorizer.class.name at its brokers, see docs/operator.md.'];
      return { faults: config.NODE_ENV === 'production' ? faults : [], fine: 'Kafka checks no rights' };
    }
    const byUser = Map.groupBy(missing, ({ user }) => principalOf(user));
    const faults = Array.from(byUser, ([principal, access]) => {
      const what = access.map(({ operation, resource, name }) => `${operation} ${resource} ${name}`).join(', ');
      return `${principal} may not ${what}: npm run kafka -- acls --apply grants it.`;
    });
    return { faults, fine: `${needed.length} rights are granted` };
  },
};
