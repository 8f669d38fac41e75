import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One registry per service instance, with the metrics of the process. */
export function createMetrics(service: string, options: { processFigures: boolean }): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (options.processFigures) collectDefaultMetrics({ register: registry });
  return registry;
}
