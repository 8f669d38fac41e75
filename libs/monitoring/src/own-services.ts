import { services } from '@gateway/contracts';

const names = Object.values(services).map(({ name }) => name);

/** The simulator runs in the sandbox only. */
export const REQUIRED: readonly string[] = names.filter((name) => name !== services.simulator.name);

/** Selects these services by their label: a Prometheus may watch others, which have labels of the same name. */
export const among = (some: readonly string[]): string => `service=~"${some.join('|')}"`;

/** Selects all of the gateway's services, for metrics that other programs have too. */
export const OURS = among(names);
