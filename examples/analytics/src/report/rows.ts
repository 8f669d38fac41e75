import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * The rows of a query. Times are text in UTC; BIGINT and DECIMAL are text too, so that nothing is rounded.
 *
 * @typeParam Row what the query selects
 */
export async function rowsOf<Row extends object>(connection: DuckDBConnection, query: string): Promise<Row[]> {
  const found = await connection.runAndReadAll(query);
  return found.getRowObjectsJson() as Row[];
}
