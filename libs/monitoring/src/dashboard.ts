/** Units as Grafana names them. */
export type Unit = 'short' | 's' | 'reqps' | 'cps' | 'percentunit' | 'bytes' | 'd' | 'bool_yes_no';

export interface Query {
  /** PromQL. May use `$service`, `$instance` (of the dashboard's variables) and `$__rate_interval`. */
  readonly expr: string;
  readonly legend: string;
}

/** `graph`: over time. `number`: the last value. */
export interface Panel {
  readonly title: string;
  readonly kind: 'graph' | 'number';
  readonly unit: Unit;
  /** What is normal, and what is not. */
  readonly description?: string;
  readonly queries: readonly Query[];
  /** A graph begins at 0 unless its values may be negative. */
  readonly signed?: true;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A variable whose values are those of a label; several may be chosen. */
export interface Variable {
  readonly name: 'service' | 'instance';
  /** PromQL of `label_values`: the series that have the label. */
  readonly of: string;
}

export interface Dashboard {
  /** Also the name of its file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables?: readonly Variable[];
  readonly rows: readonly Row[];
}

export const graph = (title: string, unit: Unit, queries: Query | readonly Query[], description?: string): Panel =>
  panel('graph', title, unit, queries, description);

export const number = (title: string, unit: Unit, queries: Query | readonly Query[], description?: string): Panel =>
  panel('number', title, unit, queries, description);

/** A graph whose values may be negative. */
export const signed = (panel: Panel): Panel => ({ ...panel, signed: true });

function panel(
  kind: Panel['kind'],
  title: string,
  unit: Unit,
  queries: Query | readonly Query[],
  description?: string,
): Panel {
  const all = Array.isArray(queries) ? (queries as readonly Query[]) : [queries as Query];
  return { kind, title, unit, queries: all, ...(description === undefined ? {} : { description }) };
}

export const query = (legend: string, expr: string): Query => ({ legend, expr });

/** Duration that a share of events stays below, from the buckets of a histogram. */
export const quantile = (share: number, bucket: string, by: string): string =>
  `histogram_quantile(${share}, sum by (${by}${by === '' ? '' : ', '}le) (rate(${bucket}[$__rate_interval])))`;
