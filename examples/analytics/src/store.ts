import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api';
import { DuckDBInstance, DuckDBTimestampValue } from '@duckdb/node-api';
import type { Event, Message, Unreadable } from './messages';
import { isUnreadable } from './messages';

/** Messages of one partition that follow one another. */
export interface Batch {
  /** Without prefix. */
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly Message[];
  /** Of the last message that Kafka has sent, also if it is not among the messages. */
  readonly lastOffset: bigint;
}

/**
 * The tables, in one DuckDB file that this process has for itself. Rows and the position behind them are written in one
 * transaction, so the file alone says what it has: a process that is killed at any moment has either both or neither.
 */
export interface Store {
  /** Binds the file to the topics of one Kafka cluster. @throws StoreError if it has events of others */
  bindTo(source: string): Promise<void>;
  /** Undefined before the first message of the partition. */
  nextOffset(topic: string, partition: number): bigint | undefined;
  /** Writes what follows the position, and ignores what is before it. */
  append(batch: Batch): Promise<void>;
  /** Records that everything is here that the topics had at this time. */
  completeTo(time: Date): Promise<void>;
  /** Runs queries that all see the same state of the tables. */
  snapshot<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** An operator can help: another process has the file, or it has events of another gateway. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

const SQL = join(__dirname, '..', 'sql');
const FILE = 'analytics.duckdb';
/** Extensions are downloads. JSON and Parquet are built in. */
const OPTIONS = { memory_limit: '1GB', threads: '2', autoinstall_known_extensions: 'false' };

/** @throws StoreError if another process has the file */
export async function openStore(directory: string): Promise<Store> {
  mkdirSync(directory, { recursive: true });
  const instance = await openFile(join(directory, FILE));
  const writing = await instance.connect();
  for (const name of ['tables.sql', 'views.sql']) await writing.run(readFileSync(join(SQL, name), 'utf8'));
  const positions = await readPositions(writing);

  async function append({ topic, partition, messages, lastOffset }: Batch): Promise<void> {
    const key = keyOf(topic, partition);
    const known = positions.get(key);
    const fresh = messages.filter(({ offset }) => known === undefined || offset >= known.next);
    const [earliest] = fresh;
    if (earliest === undefined) return;
    const position = { first: known?.first ?? earliest.offset, next: lastOffset + 1n };
    await inTransaction(writing, async () => {
      await appendRows(writing, 'events', fresh.filter(isEvent), (to, event) => putEvent(to, topic, partition, event));
      const unreadable = fresh.filter(isUnreadable);
      await appendRows(writing, 'unreadable', unreadable, (to, one) => putUnreadable(to, topic, partition, one));
      await writing.run(
        `INSERT INTO positions VALUES ($topic, $partition, $first, $next)
           ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset`,
        { topic, partition, ...position },
      );
    });
    positions.set(key, position);
  }

  async function remember(name: string, value: string): Promise<void> {
    await writing.run('INSERT INTO facts VALUES ($name, $value) ON CONFLICT DO UPDATE SET value = excluded.value', {
      name,
      value,
    });
  }

  const oneAtATime = createTurns();
  return {
    bindTo: (source) =>
      oneAtATime(async () => {
        const found = await writing.runAndReadAll(`SELECT value FROM facts WHERE name = 'source'`);
        const [[existing] = []] = found.getRows() as [string][];
        if (existing === undefined) return remember('source', source);
        if (existing !== source) {
          throw new StoreError(`${directory} has the events of ${existing}, not of ${source}: name another folder.`);
        }
      }),
    nextOffset: (topic, partition) => positions.get(keyOf(topic, partition))?.next,
    append: (batch) => oneAtATime(() => append(batch)),
    completeTo: (time) => oneAtATime(() => remember('complete_to', time.toISOString())),
    async snapshot(work) {
      const reading = await instance.connect();
      try {
        return await inTransaction(reading, () => work(reading));
      } finally {
        reading.closeSync();
      }
    },
    close: () =>
      oneAtATime(async () => {
        writing.closeSync();
        instance.closeSync();
      }),
  };
}

async function openFile(path: string): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, OPTIONS);
  } catch (error) {
    if (!/lock/i.test((error as Error).message)) throw error;
    throw new StoreError(`${path} is open in another process, and DuckDB admits one: read the Parquet files instead.`);
  }
}

async function readPositions(connection: DuckDBConnection): Promise<Map<string, { first: bigint; next: bigint }>> {
  const found = await connection.runAndReadAll('SELECT * FROM positions');
  const rows = found.getRows() as [topic: string, partition: number, first: bigint, next: bigint][];
  return new Map(rows.map(([topic, partition, first, next]) => [keyOf(topic, partition), { first, next }]));
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

async function inTransaction<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN TRANSACTION');
  try {
    const result = await work();
    await connection.run('COMMIT');
    return result;
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** A connection has one transaction: work that awaits must not run inside that of other work. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

async function appendRows<Row>(
  connection: DuckDBConnection,
  table: string,
  rows: readonly Row[],
  put: (appender: DuckDBAppender, row: Row) => void,
): Promise<void> {
  if (rows.length === 0) return;
  const appender = await connection.createAppender(table);
  try {
    for (const row of rows) {
      put(appender, row);
      appender.endRow();
    }
    appender.closeSync();
  } catch (error) {
    // It would write its rows when it is collected, after the transaction.
    appender.clear();
    throw error;
  }
}

function isEvent(message: Message): message is Event {
  return !isUnreadable(message);
}

function putEvent(to: DuckDBAppender, topic: string, partition: number, event: Event): void {
  to.appendVarchar(topic);
  to.appendInteger(partition);
  to.appendBigInt(event.offset);
  to.appendVarchar(event.id);
  to.appendVarchar(event.type);
  putText(to, event.source);
  to.appendTimestamp(new DuckDBTimestampValue(BigInt(event.timeMs) * 1_000n));
  to.appendVarchar(event.subject);
  to.appendBigInt(event.version);
  putText(to, event.correlationId);
  putText(to, event.causationId);
  to.appendVarchar(event.headers);
  to.appendVarchar(event.data);
}

function putUnreadable(to: DuckDBAppender, topic: string, partition: number, one: Unreadable): void {
  to.appendVarchar(topic);
  to.appendInteger(partition);
  to.appendBigInt(one.offset);
  to.appendVarchar(one.problem);
  putBytes(to, one.key);
  to.appendVarchar(one.headers);
  putBytes(to, one.value);
}

function putText(to: DuckDBAppender, text: string | undefined): void {
  if (text === undefined) to.appendNull();
  else to.appendVarchar(text);
}

function putBytes(to: DuckDBAppender, bytes: Uint8Array | null): void {
  if (bytes === null) to.appendNull();
  else to.appendBlob(bytes);
}
