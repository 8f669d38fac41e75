import { alerts } from './alerts/alerts';
import { dashboards } from './dashboards/dashboards';
import { grafanaDashboard } from './grafana';
import { alertmanagerFile } from './alertmanager';
import { ruleFile, ruleTestFile } from './rules';
import type { ScrapeTarget } from './scrape';
import { kubernetesFile, prometheusFile } from './scrape';

export { alertmanagerFile } from './alertmanager';
export type { Alert, Comparison, Series, Severity } from './alert';
export { expressionOf } from './alert';
export { alerts } from './alerts/alerts';
export type { Dashboard, Panel, Query, Row, Unit } from './dashboard';
export { dashboards } from './dashboards/dashboards';
export { grafanaDashboard } from './grafana';
export type { RuleFile } from './rules';
export { RUNBOOK_LABEL, RUNBOOK_URL, ruleFile } from './rules';
export type { Scale } from './scale';
export { REAL_TIME } from './scale';
export type { ScrapeTarget } from './scrape';
export type { Slo } from './slos';
export { SLO_DAYS, slos } from './slos';

const RULES_FILE = 'gateway.rules.yml';
/** Where Compose and Kubernetes mount secrets and dashboards. */
const TOKEN_FILE = '/run/secrets/metrics_token';
const AUTHORITY_FILE = '/run/internal-ca/ca.pem';
/** In the certificate of every service, beside its own names; in the chart with its release before it. */
const METRICS_NAME = 'gateway-metrics';
const DASHBOARDS_FOLDER = '/var/lib/grafana/dashboards';
const PROMETHEUS_URL = 'http://prometheus:9090';

/** Contents of deploy/monitoring by path, to be written as YAML or JSON, as their names say. */
export function monitoringFiles(targets: readonly ScrapeTarget[]): Map<string, unknown> {
  const scrape = { rulesFile: RULES_FILE, tokenFile: TOKEN_FILE };
  const tls = { authorityFile: AUTHORITY_FILE, serverName: METRICS_NAME };
  return new Map<string, unknown>([
    ['prometheus/prometheus.yml', prometheusFile(targets, scrape)],
    ['prometheus/closed.yml', prometheusFile(targets, { ...scrape, tls })],
    ['prometheus/kubernetes.yml', kubernetesFile({ ...scrape, tls })],
    ['alertmanager/alertmanager.yml', alertmanagerFile()],
    [`prometheus/${RULES_FILE}`, ruleFile()],
    ['prometheus/gateway.test.yml', ruleTestFile(RULES_FILE)],
    ['grafana/provisioning/datasources/prometheus.yml', datasource()],
    ['grafana/provisioning/dashboards/gateway.yml', dashboardProvider()],
    ...dashboards.map((one) => [`grafana/dashboards/${one.uid}.json`, grafanaDashboard(one)] as const),
  ]);
}

function datasource() {
  return {
    apiVersion: 1,
    datasources: [
      {
        name: 'Prometheus',
        type: 'prometheus',
        access: 'proxy',
        url: PROMETHEUS_URL,
        isDefault: true,
        editable: false,
      },
    ],
  };
}

function dashboardProvider() {
  return {
    apiVersion: 1,
    providers: [
      { name: 'payment-gateway', type: 'file', folder: 'Payment gateway', options: { path: DASHBOARDS_FOLDER } },
    ],
  };
}

/** For docs: name, severity and summary of each alert. */
export const alertNames: readonly string[] = [...new Set(alerts.map(({ name }) => name))];
