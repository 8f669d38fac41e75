import type { Dashboard, Panel, Query, Variable } from './dashboard';

/** Of Grafana 11 and 12; later versions migrate it when they load a dashboard. */
const SCHEMA_VERSION = 41;
const COLUMNS = 24;
const GRAPH = { w: 8, h: 8 };
const NUMBER = { w: 4, h: 4 };
const ROW_HEIGHT = 1;

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** A dashboard as Grafana imports and provisions it. */
export function grafanaDashboard(dashboard: Dashboard) {
  return {
    uid: dashboard.uid,
    title: dashboard.title,
    description: dashboard.description,
    tags: ['payment-gateway'],
    editable: true,
    graphTooltip: 1,
    links: [
      { type: 'dashboards', title: 'Payment gateway', tags: ['payment-gateway'], asDropdown: true, keepTime: true },
    ],
    annotations: { list: [] },
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: [DATASOURCE_VARIABLE, ...(dashboard.variables ?? []).map(labelVariable)] },
    panels: laidOut(dashboard),
  };
}

const DATASOURCE_VARIABLE = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  refresh: 1,
  hide: 0,
};

function labelVariable({ name, of }: Variable) {
  const query = `label_values(${of}, ${name})`;
  return {
    name,
    label: name,
    type: 'query',
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    hide: 0,
    multi: true,
    includeAll: true,
    allValue: '.+',
    current: { text: 'All', value: '$__all' },
  };
}

interface Position {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Panels from left to right, in lines, under the titles of their rows. */
function laidOut({ rows }: Dashboard) {
  const panels: object[] = [];
  let y = 0;
  const add = (gridPos: Position, content: object): void =>
    void panels.push({ id: panels.length + 1, gridPos, ...content });
  for (const row of rows) {
    add({ x: 0, y, w: COLUMNS, h: ROW_HEIGHT }, { type: 'row', title: row.title, collapsed: false, panels: [] });
    y += ROW_HEIGHT;
    let x = 0;
    let lineHeight = 0;
    for (const panel of row.panels) {
      const { w, h } = panel.kind === 'graph' ? GRAPH : NUMBER;
      if (x + w > COLUMNS) {
        y += lineHeight;
        x = 0;
        lineHeight = 0;
      }
      add({ x, y, w, h }, grafanaPanel(panel));
      x += w;
      lineHeight = Math.max(lineHeight, h);
    }
    y += lineHeight;
  }
  return panels;
}

function grafanaPanel(panel: Panel) {
  const { title, description, unit, queries } = panel;
  const common = { title, ...(description === undefined ? {} : { description }), datasource: DATASOURCE };
  if (panel.kind === 'number') {
    return {
      ...common,
      type: 'stat',
      targets: queries.map((query, index) => ({ ...target(query, index), instant: true, range: false })),
      fieldConfig: { defaults: { unit }, overrides: [] },
      options: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        colorMode: 'none',
        graphMode: 'none',
      },
    };
  }
  return {
    ...common,
    type: 'timeseries',
    targets: queries.map(target),
    fieldConfig: {
      defaults: { unit, ...(panel.signed ? {} : { min: 0 }), custom: { fillOpacity: 10, showPoints: 'never' } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

function target({ expr, legend }: Query, index: number) {
  return {
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
    editorMode: 'code',
    instant: false,
    range: true,
  };
}
