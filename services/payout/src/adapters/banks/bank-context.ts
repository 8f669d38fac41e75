import type { SimulatedMoney } from '@gateway/contracts';
import type { Clock, MongoConnection } from '@gateway/mongo';
import type { Logger, OutboundProxy, Registry } from '@gateway/service-kit';
import type { BankConnector } from '../../application/bank-ports';
import type { BatchOperations } from '../../application/batch-ports';
import type { Accounts } from '../../application/ports';
import type { HoldsAdapter } from '../mongo/holds';

/** Common options of all connectors. */
export interface BankContext {
  /** Each connector reads its own settings from here, named `<CONNECTOR>_…`. */
  env: Record<string, string | undefined>;
  /** Whether the simulator may take EUR. */
  simulatedMoney: SimulatedMoney;
  /** The payouts' database, for connectors with their own collections. */
  mongo: MongoConnection;
  /** Concurrent calls to one bank. */
  callsAtOnce: number;
  /** For `openCounterpart`. */
  proxy?: OutboundProxy | undefined;
  logger: Logger;
  metrics: Registry;
  clock: Clock;
  /** For connectors that collect payouts before they send them. */
  holds: HoldsAdapter;
  accounts: Pick<Accounts, 'findLatest'>;
}

/** A connector, with the operator's commands if it collects payouts into files. */
export interface OpenBank extends BankConnector {
  readonly operations?: BatchOperations;
}
