import type { CallerKind } from '@gateway/service-kit';
import { CALLER_KINDS, explanationOf, operatorFrom, readCallers, SANDBOX_CALLERS } from '@gateway/service-kit';
import type { Check } from '../check';

const ELSEWHERE: readonly CallerKind[] = SANDBOX_CALLERS;

/** The list of callers can be read, names whom the services need, and knows the operator who asks. */
export const identitiesCheck: Check = {
  name: 'identities',
  async examine({ config, env }) {
    const { CALLERS_FILE: file, NODE_ENV } = config;
    if (file === undefined) {
      const faults = ['CALLERS_FILE is not set: give each caller an identity, see docs/runbook.md.'];
      return { faults: NODE_ENV === 'production' ? faults : [], fine: 'internal ports ask for none' };
    }
    try {
      const callers = [...readCallers(file).values()];
      const needed = CALLER_KINDS.filter((kind) => !ELSEWHERE.includes(kind));
      const absent = needed.filter((kind) => callers.every((caller) => caller.kind !== kind));
      operatorFrom(env);
      const faults = absent.map((kind) => `${file} has no caller of the kind ${kind}: add one, see docs/runbook.md.`);
      return { faults, fine: `${callers.length} callers` };
    } catch (error) {
      return { faults: [explanationOf(error)], fine: '' };
    }
  },
};
