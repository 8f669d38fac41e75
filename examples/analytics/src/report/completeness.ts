import type { DuckDBConnection } from '@duckdb/node-api';
import { rowsOf } from './rows';

/** How complete the tables are, and what is wrong with them: at most {@link NAMED} of each kind by name. */
export interface Completeness {
  /** Everything is here that the topics had at this time. RFC 3339, in UTC. */
  readonly completeTo: string;
  readonly gaps: Findings;
  readonly duplicates: Findings;
  /** Messages that Kafka had removed before they were read. */
  readonly holes: Findings;
  readonly unreadable: Findings;
  readonly unknownTypes: Findings;
}

export interface Findings {
  readonly count: number;
  /** One line each. */
  readonly named: readonly string[];
}

/** A report with a thousand lines helps nobody; the views have all of them. */
const NAMED = 20;

const COMPLETE_TO = `SELECT value FROM facts WHERE name = 'complete_to'`;

/** Each query names what it found, and counts it. */
const GAPS = `
  SELECT
    topic || ': ' || subject || ' lacks version ' || from_version
      || CASE WHEN to_version > from_version THEN ' to ' || to_version ELSE '' END AS name,
    to_version - from_version + 1 AS number
  FROM gaps WHERE NOT expired ORDER BY ALL`;
const DUPLICATES = `
  SELECT
    topic || ': version ' || version || ' of ' || subject || ' came ' || messages || ' times'
      || CASE WHEN ids > 1 THEN ', with ' || ids || ' different ids' ELSE '' END AS name,
    messages - 1 AS number
  FROM duplicates ORDER BY ALL`;
const HOLES = `
  SELECT
    topic || ': partition ' || kafka_partition || ' lacks offset ' || from_offset
      || CASE WHEN to_offset > from_offset THEN ' to ' || to_offset ELSE '' END AS name,
    to_offset - from_offset + 1 AS number
  FROM holes ORDER BY ALL`;
const UNREADABLE = `
  SELECT topic || ': partition ' || kafka_partition || ', offset ' || kafka_offset || ': ' || problem AS name, 1 AS number
  FROM unreadable ORDER BY topic, kafka_partition, kafka_offset`;
const UNKNOWN_TYPES = `
  SELECT topic || ': ' || type AS name, events AS number FROM unknown_types ORDER BY ALL`;

/** @param connection in a transaction, so that the parts agree */
export async function readCompleteness(connection: DuckDBConnection): Promise<Completeness> {
  const [time] = await rowsOf<{ value: string }>(connection, COMPLETE_TO);
  return {
    completeTo: time?.value ?? '',
    gaps: await findings(connection, GAPS),
    duplicates: await findings(connection, DUPLICATES),
    holes: await findings(connection, HOLES),
    unreadable: await findings(connection, UNREADABLE),
    unknownTypes: await findings(connection, UNKNOWN_TYPES),
  };
}

async function findings(connection: DuckDBConnection, query: string): Promise<Findings> {
  const [all] = await rowsOf<{ count: number }>(
    connection,
    `SELECT CAST(coalesce(sum(number), 0) AS DOUBLE) AS count FROM (${query})`,
  );
  const named = await rowsOf<{ name: string }>(connection, `SELECT name FROM (${query}) LIMIT ${NAMED}`);
  return { count: all?.count ?? 0, named: named.map(({ name }) => name) };
}

/** `complete to 2026-11-22 14:05:09 UTC, 0 gaps, 0 duplicates`, and what else there is. */
export function completenessLine(completeness: Completeness): string {
  const { completeTo, gaps, duplicates, holes, unreadable, unknownTypes } = completeness;
  const others = [
    [holes, 'expired unread'],
    [unreadable, 'unreadable'],
    [unknownTypes, 'of unknown types'],
  ] as const;
  return [
    `complete to ${completeTo.slice(0, 19).replace('T', ' ')} UTC`,
    counted(gaps.count, 'gap'),
    counted(duplicates.count, 'duplicate'),
    ...others.filter(([{ count }]) => count > 0).map(([{ count }, what]) => `${count} ${what}`),
  ].join(', ');
}

/** Everything that is wrong, by name; then how much more there is. */
export function completenessDetails({ gaps, duplicates, holes, unreadable, unknownTypes }: Completeness): string[] {
  return [gaps, duplicates, holes, unreadable, unknownTypes].flatMap(({ named, count }) =>
    named.length === NAMED && count > NAMED ? [...named, '… and more: see the views in sql/views.sql'] : named,
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
