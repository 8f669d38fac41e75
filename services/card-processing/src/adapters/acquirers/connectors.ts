import type { AcquirerName } from '@gateway/accounts';
import type { SimulatedMoney } from '@gateway/contracts';
import type { OutboundProxy, Registry } from '@gateway/service-kit';
import type { AcquirerConnector } from '../../application/ports';
import type { AcquirerTranslation } from './acquirer';
import { openAcquirer } from './acquirer';
import { simulatorTranslation } from './simulator/connector';

/** Reads a connector's own settings, named `<CONNECTOR>_…`. */
type Connector = (env: ConnectorContext['env'], simulatedMoney: SimulatedMoney) => AcquirerTranslation;
export type Connectors = Readonly<Record<string, Connector>>;

/** All connectors, by the names that terminals may have. The setting `ACQUIRERS` names those in use. */
export const CONNECTORS = {
  simulator: simulatorTranslation,
} satisfies Record<AcquirerName, Connector>;

export interface ConnectorContext {
  env: Record<string, string | undefined>;
  simulatedMoney: SimulatedMoney;
  /** Merchants' concurrent operations at one acquirer. */
  callsAtOnce: number;
  metrics: Registry;
  /** To all of them. */
  proxy?: OutboundProxy | undefined;
}

/** Opens the connectors that the configuration names; an unknown name is an error. */
export function openConnectors(
  names: readonly string[],
  context: ConnectorContext,
  connectors: Connectors = CONNECTORS,
): Map<string, AcquirerConnector> {
  return new Map(
    names.map((name) => {
      const connector = connectors[name];
      if (connector === undefined)
        throw new Error(`ACQUIRERS names ${name}; there are ${Object.keys(connectors).join(', ')}`);
      return [name, openAcquirer(name, connector(context.env, context.simulatedMoney), context)];
    }),
  );
}
