import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exportParquet } from './parquet';
import type { Reader } from './reader';
import { createReader } from './reader';
import { completenessDetails, completenessLine, readCompleteness } from './report/completeness';
import { readFigures } from './report/figures';
import { renderReport } from './report/page';
import type { Settings } from './settings';
import { readSettings, SettingsError } from './settings';
import type { Store } from './store';
import { openStore } from './store';

const USAGE = `usage: npm run analytics              reads what the topics have now, writes the Parquet files and report.html
       npm run analytics -- --follow  does that every minute, until Ctrl-C
Settings: examples/analytics/README.md`;
const REPORT_EVERY_MS = 60_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`analytics: ${line}\n`);

/** Writes Parquet files and report from one state of the tables. */
async function publish(store: Store, { directory }: Settings): Promise<void> {
  await store.snapshot(async (connection) => {
    const completeness = await readCompleteness(connection);
    const parquet = await exportParquet(connection, directory, completeness.completeTo);
    const report = join(directory, 'report.html');
    await writeFile(`${report}.new`, renderReport(await readFigures(connection), completeness));
    await rename(`${report}.new`, report);
    const details = completenessDetails(completeness).map((detail) => `  ${detail}`);
    say([completenessLine(completeness), ...details, `report: ${report}`, `Parquet: ${parquet}`].join('\n'));
  });
}

async function read(reader: Reader, store: Store, settings: Settings, follow: boolean): Promise<void> {
  const stopped = new Promise<'stopped'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('stopped'));
  });
  const first = <T>(event: Promise<T>): Promise<T | 'stopped'> => Promise.race([event, reader.failed, stopped]);
  await reader.start();
  do {
    if ((await first(reader.catchUp())) === 'stopped') return;
    await publish(store, settings);
  } while (follow && (await first(delay(REPORT_EVERY_MS))) !== 'stopped');
}

async function main(args: readonly string[]): Promise<number> {
  const follow = args[0] === '--follow';
  if (args.length > (follow ? 1 : 0)) {
    warn(USAGE);
    return 2;
  }
  // kafkajs sets timers with negative times, about which Node warns (tulios/kafkajs#1751).
  process.removeAllListeners('warning');
  const settings = readSettings(process.env);
  const store = await openStore(settings.directory);
  const onJoin = (partitions: number): void => say(`reading ${partitions} partitions`);
  const reader = createReader(settings, store, { onJoin, onTrouble: warn });
  try {
    await read(reader, store, settings, follow);
    return 0;
  } finally {
    await reader.stop();
    await store.close();
  }
}

main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    warn(error instanceof SettingsError ? `Configuration: ${error.message}` : (error as Error).message);
    process.exit(1);
  },
);
