import type { AcquirerConnector } from '../../application/ports';
import type { ConnectorContext } from './connector-context';
import { createSimulatorConnector } from './simulator/connector';

/** Every connector there is. A new one is a folder beside `simulator/`, a line here and its name in `ACQUIRERS`. */
const FACTORIES: Record<string, (context: ConnectorContext) => AcquirerConnector> = {
  simulator: createSimulatorConnector,
};

/** Opens the connectors that the configuration names; an unknown name is an error. */
export function openConnectors(names: readonly string[], context: ConnectorContext): Map<string, AcquirerConnector> {
  return new Map(
    names.map((name) => {
      const create = FACTORIES[name];
      if (create === undefined)
        throw new Error(`ACQUIRERS names ${name}; there are ${Object.keys(FACTORIES).join(', ')}`);
      return [name, create(context)];
    }),
  );
}
