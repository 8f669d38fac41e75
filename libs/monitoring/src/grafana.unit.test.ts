import { dashboards } from './dashboards/dashboards';
import { grafanaDashboard } from './grafana';

interface GridPos {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface GrafanaPanel {
  id: number;
  type: string;
  title: string;
  gridPos: GridPos;
  datasource?: unknown;
  targets?: { refId: string; datasource: unknown; expr: string; legendFormat: string }[];
  fieldConfig?: { defaults: { unit?: string; min?: number } };
}

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const all = dashboards.map((dashboard) => [dashboard.title, grafanaDashboard(dashboard)] as const);
const panelsOf = (dashboard: ReturnType<typeof grafanaDashboard>) => dashboard.panels as GrafanaPanel[];

const overlap = (a: GridPos, b: GridPos): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

test('dashboards have different ids and titles', () => {
  for (const key of ['uid', 'title'] as const) {
    const values = dashboards.map((dashboard) => dashboard[key]);
    expect(values).toEqual([...new Set(values)]);
  }
});

test.each(all)('panels of "%s" have places of their own in 24 columns', (_title, dashboard) => {
  const places = panelsOf(dashboard).map(({ gridPos }) => gridPos);
  expect(places.filter(({ x, w }) => x < 0 || x + w > 24)).toEqual([]);
  expect(places.filter((place, index) => places.slice(0, index).some((other) => overlap(place, other)))).toEqual([]);
});

test.each(all)('panels of "%s" have ids, queries of the chosen data source, and units', (_title, dashboard) => {
  const panels = panelsOf(dashboard);
  expect(panels.map(({ id }) => id)).toEqual(panels.map((_panel, index) => index + 1));
  for (const { type, targets = [], datasource, fieldConfig } of panels) {
    if (type === 'row') continue;
    expect(['timeseries', 'stat']).toContain(type);
    expect(datasource).toEqual(DATASOURCE);
    expect(fieldConfig?.defaults.unit).toMatch(/^[a-z_]+$/);
    expect(targets.length).toBeGreaterThan(0);
    const ids = targets.map(({ refId }) => refId);
    expect(ids).toEqual([...new Set(ids)]);
    for (const target of targets) expect(target.datasource).toEqual(DATASOURCE);
  }
});

test('graphs begin at 0, apart from those whose values may be negative', () => {
  const graphs = all.flatMap(([, dashboard]) => panelsOf(dashboard)).filter(({ type }) => type === 'timeseries');
  const without = graphs.filter(({ fieldConfig }) => fieldConfig?.defaults.min !== 0);
  expect(without.map(({ title }) => title)).toEqual(['Clock ahead of the database']);
});

test('what each replica sees for itself is not added up, and a filter is in the title', () => {
  const panels = dashboards.flatMap(({ rows }) => rows.flatMap((row) => row.panels));
  const expressions = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr));
  expect(expressions.filter((expr) => /sum\(callback_open_circuits/.test(expr))).toEqual([]);
  const titles = panels.filter(({ queries }) => queries.some(({ expr }) => expr.includes('class!="success"')));
  expect(titles.map(({ title }) => title)).toEqual(['Ends without success, by class of code']);
});

test('metrics that other programs have too are those of our services, or of the chosen ones', () => {
  const expressions = dashboards.flatMap(({ rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
  );
  const common = expressions.flatMap((expr) => expr.match(/\b(?:up\b|process_\w+|nodejs_\w+)(?:\{[^}]*\})?/g) ?? []);
  expect(common.length).toBeGreaterThan(0);
  expect(common.filter((selector) => !/\{service=~"(?:\$service|api-edge\|)/.test(selector))).toEqual([]);
});

test.each(dashboards.map((dashboard) => [dashboard.title, dashboard] as const))(
  'queries of "%s" use only variables that it has, and legends only labels that they keep',
  (_title, { rows, variables = [] }) => {
    const known = [...variables.map(({ name }) => name), '__rate_interval'];
    for (const { expr, legend } of rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries))) {
      for (const [, name = ''] of expr.matchAll(/\$(\w+)/g)) expect(known).toContain(name);
      const kept = Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, labels = '']) => labels.split(/, */)).flat();
      if (kept.length === 0) continue;
      for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g)) expect(kept).toContain(label);
    }
  },
);
