import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quotedString } from '@duckdb/node-api';

/** Views of sql/views.sql, and how far they are read. */
const EXPORTED = [
  'card_events',
  'card_operations',
  'payout_events',
  'payouts',
  'callback_events',
  'callbacks',
  'positions',
];

/**
 * Writes a Parquet file for each of {@link EXPORTED}, in place of the last one. Whoever reads a file meanwhile has either
 * the old or the new one, whole.
 *
 * @param connection in a transaction, so that the files agree
 * @param completeTo goes into the files' metadata
 */
export async function exportParquet(
  connection: DuckDBConnection,
  directory: string,
  completeTo: string,
): Promise<string> {
  const folder = join(directory, 'parquet');
  await mkdir(folder, { recursive: true });
  for (const name of EXPORTED) {
    const path = join(folder, `${name}.parquet.new`);
    const metadata = `{complete_to: ${quotedString(completeTo)}}`;
    await connection.run(
      `COPY (FROM ${name}) TO ${quotedString(path)} (FORMAT parquet, COMPRESSION zstd, KV_METADATA ${metadata})`,
    );
  }
  for (const name of EXPORTED) await rename(join(folder, `${name}.parquet.new`), join(folder, `${name}.parquet`));
  return folder;
}
