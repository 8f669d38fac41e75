import type { Alert, AlertCase, Fired } from './alert';
import { expressionOf } from './alert';
import { alertGroups } from './alerts/alerts';
import type { Scale } from './scale';
import { REAL_TIME, scaledAlert, scaledExpression } from './scale';
import type { RecordingRule } from './slos';
import { sloRules } from './slos';

const SECONDS_OF_A_MINUTE = 60;
/** Where the runbook is differs: `external_labels` of Prometheus say, or the chart's `monitoring.runbookUrl`. */
export const RUNBOOK_LABEL = 'runbook';
export const RUNBOOK_URL = 'https://git.example.com/payments/payment-gateway/blob/main/docs/runbook.md';
const RUNBOOK = `{{ $externalLabels.${RUNBOOK_LABEL} }}`;

interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

/** A file of rules for Prometheus. */
export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly (RecordingRule | AlertingRule)[] }[];
}

/** Where an alert's paragraph is. @param runbook address, or a template of it */
const runbookOf = (name: string, runbook: string): string => `${runbook}#${name.toLowerCase()}`;

/** Recording rules of the objectives, then all alerts. */
export function ruleFile(scale: Scale = REAL_TIME): RuleFile {
  const recorded = sloRules().map((rule) => ({ ...rule, expr: scaledExpression(rule.expr, scale) }));
  const groups = Object.entries(alertGroups).map(([name, alerts]) => ({
    name: `gateway-${name}`,
    rules: alerts.map((alert) => alertingRule(scaledAlert(alert, scale))),
  }));
  return { groups: [{ name: 'gateway-burn-rates', rules: recorded }, ...groups] };
}

function alertingRule(alert: Alert): AlertingRule {
  return {
    alert: alert.name,
    expr: expressionOf(alert),
    for: `${Math.round(alert.forMinutes * SECONDS_OF_A_MINUTE)}s`,
    labels: { severity: alert.severity },
    annotations: { summary: alert.summary, runbook_url: runbookOf(alert.name, RUNBOOK) },
  };
}

/** A file for `promtool test rules`: for each alert cases in which it fires, and near misses in which it does not. */
export function ruleTestFile(rulesFile: string) {
  const alerts = Object.values(alertGroups).flat();
  return {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: alerts.flatMap((alert) => {
      const { atMinute, fires, silent, more = [] } = alert.test;
      return [
        ruleTest(alert, { what: 'fires', atMinute, series: fires.series }, expectedAlerts(alert, fires)),
        ...(silent === undefined ? [] : [ruleTest(alert, { what: 'is silent', atMinute, series: silent }, [])]),
        ...more.map((one) => ruleTest(alert, one, one.fires ? expectedAlerts(alert, one.fires) : [])),
      ];
    }),
  };
}

function ruleTest({ name, severity }: Alert, { what, atMinute, series }: AlertCase, expected: readonly object[]) {
  return {
    name: `${name} (${severity}) ${what}`,
    interval: '1m',
    external_labels: { [RUNBOOK_LABEL]: RUNBOOK_URL },
    input_series: Object.entries(series).map(([selector, values]) => ({ series: selector, values })),
    alert_rule_test: [{ eval_time: `${atMinute}m`, alertname: name, exp_alerts: expected }],
  };
}

function expectedAlerts({ name, severity, summary }: Alert, { labels, severities = [severity] }: Fired): object[] {
  const exp_annotations = {
    summary: summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_template, label: string) => labels[label] ?? ''),
    runbook_url: runbookOf(name, RUNBOOK_URL),
  };
  return severities.map((one) => ({ exp_labels: { ...labels, severity: one }, exp_annotations }));
}
