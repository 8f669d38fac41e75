import type { Clock, MongoConnection } from '@gateway/mongo';
import type { Logger, Registry } from '@gateway/service-kit';
import type { BankConnector } from '../../application/bank-ports';
import type { BatchOperations } from '../../application/batch-ports';

/** What every connector is opened with. */
export interface BankContext {
  /** A connector reads its own settings, named `<CONNECTOR>_…`. */
  env: Record<string, string | undefined>;
  /** The payouts' database, for connectors that keep something of their own beside them. */
  mongo: MongoConnection;
  /** Calls to one bank at once. */
  callsAtOnce: number;
  logger: Logger;
  metrics: Registry;
  clock: Clock;
}

/** A connector, with what an operator may do where it collects payouts into files. */
export interface OpenBank extends BankConnector {
  readonly operations?: BatchOperations;
}
