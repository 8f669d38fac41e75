import type { Logger, Registry } from '@gateway/service-kit';

/** What every connector is opened with. */
export interface ConnectorContext {
  /** A connector reads its own settings, named `<CONNECTOR>_…`. */
  env: Record<string, string | undefined>;
  logger: Logger;
  metrics: Registry;
}
