import type { Check } from '../check';

/** No service waits for an operator to end its recovery after a restore (ADR 0088). */
export const recoveryCheck: Check = {
  name: 'recovery',
  async examine({ replicas }) {
    const known = replicas.filter(({ metric }) => metric('gateway_recovery') !== undefined);
    const faults = known
      .filter(({ metric }) => metric('gateway_recovery') === 1)
      .map(
        ({ name }) =>
          `${name} is in recovery, because its database and Kafka do not fit, and begins nothing new: docs/recovery.md says how to end it.`,
      );
    return { faults, fine: known.length === 0 ? 'no replica was asked' : 'no service is in recovery' };
  },
};
