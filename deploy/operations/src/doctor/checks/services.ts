import { services } from '@gateway/contracts';
import type { Check } from '../check';

/** Every service has a replica, and every replica answers and is ready. */
export const servicesCheck: Check = {
  name: 'services',
  async examine({ config, replicas }) {
    if (config.OPS_URLS === undefined) {
      const advice = 'OPS_URLS is not set, so nothing is known about the services: set it to their internal ports.';
      return { faults: [advice], fine: '' };
    }
    // The simulator is for trying the gateway, not part of a deployment.
    const expected = Object.values(services).filter(({ name }) => name !== services.simulator.name);
    const missing = expected.filter(({ name }) => replicas.every(({ service }) => service !== name));
    const faults = [
      ...missing.map(({ name }) => `OPS_URLS does not name ${name}: add its internal port.`),
      ...replicas.flatMap(({ name, silence, failing }) => {
        if (silence !== undefined) return [`${name} does not answer (${silence}): start it, or repair the way there.`];
        if (failing.length === 0) return [];
        return [`${name} is not ready (${failing.join(', ')}): docs/operator.md says what each of these means.`];
      }),
    ];
    return { faults, fine: `${replicas.length} replicas are ready` };
  },
};
