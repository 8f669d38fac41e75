import type { Registry } from '@gateway/service-kit';
import type { AcquirerConnector } from '../../application/ports';
import type { AcquirerTranslation } from './acquirer';
import { openAcquirer } from './acquirer';
import { simulatorTranslation } from './simulator/connector';

/** Reads a connector's own settings, named `<CONNECTOR>_…`. */
type Connector = (env: Record<string, string | undefined>) => AcquirerTranslation;

/** Every connector there is. A new one is a folder beside `simulator/`, a line here and its name in `ACQUIRERS`. */
const CONNECTORS: Record<string, Connector> = {
  simulator: simulatorTranslation,
};

export interface ConnectorContext {
  env: Record<string, string | undefined>;
  /** Merchants' operations at one acquirer at once. */
  callsAtOnce: number;
  metrics: Registry;
}

/** Opens the connectors that the configuration names; an unknown name is an error. */
export function openConnectors(names: readonly string[], context: ConnectorContext): Map<string, AcquirerConnector> {
  return new Map(
    names.map((name) => {
      const connector = CONNECTORS[name];
      if (connector === undefined)
        throw new Error(`ACQUIRERS names ${name}; there are ${Object.keys(CONNECTORS).join(', ')}`);
      return [name, openAcquirer(name, connector(context.env), context)];
    }),
  );
}
