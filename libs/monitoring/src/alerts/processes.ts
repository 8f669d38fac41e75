import type { ServiceDeclaration } from '@gateway/contracts';
import { services } from '@gateway/contracts';
import type { Alert } from '../alert';
import { above, below, growing, steady } from '../alert';
import { among, OURS, REQUIRED } from '../own-services';

/** Replicas that answer, for each service; 0 also for a service that Prometheus does not know. */
const RUNNING = [
  `sum by (service) (up{${among(REQUIRED)}}`,
  ...REQUIRED.map((name) => `or label_replace(vector(0), "service", "${name}", "", "")`),
].join(' ');

const everyService = (value: string) =>
  Object.fromEntries(REQUIRED.map((name) => [`up{service="${name}",instance="a"}`, value]));

/**
 * Gauges that alerts need, and that a service leaves out while it cannot read them. Those of payment files are not here:
 * only some installations have them.
 */
const NEEDED: Readonly<Record<string, readonly ServiceDeclaration[]>> = {
  consumer_oldest_unhandled_seconds: [
    services.cardProcessing,
    services.threeds,
    services.payout,
    services.authExpiry,
    services.callbackDispatcher,
  ],
  gateway_outbox_oldest_age_seconds: [
    services.cardProcessing,
    services.threeds,
    services.payout,
    services.callbackDispatcher,
  ],
  gateway_unknown_outcome_oldest_seconds: [services.cardProcessing, services.payout],
  callback_overdue: [services.callbackDispatcher],
  gateway_deadlines_overdue: [
    services.apiEdge,
    services.cardProcessing,
    services.payout,
    services.threeds,
    services.authExpiry,
  ],
  gateway_payouts_held: [services.payout],
  gateway_payout_holds: [services.payout],
};

/** Series of each needed gauge by service; 0 for a service of which a replica answers, but has no such series. */
const MEASURED = Object.entries(NEEDED)
  .map(([metric, owners]) => {
    const running = `0 * sum by (service) (up{${among(owners.map(({ name }) => name))}} == 1)`;
    const counted = `count by (service) (${metric}) or ${running}`;
    return `label_replace(${counted}, "metric", "${metric}", "", "")`;
  })
  .join(' or ');

/** A rotation is over within a day; whoever steals a key that is still held can read what is stored under it. */
const KEY_ROTATION_MINUTES = 24 * 60;

/** A change-over to TLS on internal ports is over within a day. */
const CHANGE_OVER_MINUTES = 24 * 60;

/** Whether processes run and can work. */
export const processAlerts: readonly Alert[] = [
  {
    name: 'ServiceDown',
    severity: 'page',
    when: [[below(`${RUNNING})`, 1)]],
    forMinutes: 1,
    summary: 'No replica of {{ $labels.service }} answers.',
    test: {
      atMinute: 5,
      fires: {
        series: { ...everyService(steady(1)), 'up{service="payout",instance="a"}': steady(0) },
        labels: { service: 'payout' },
      },
      silent: { ...everyService(steady(1)), 'up{service="payout",instance="b"}': steady(0) },
    },
  },
  {
    name: 'ReplicaDown',
    severity: 'ticket',
    when: [[below(`min by (service, instance) (up{${OURS}})`, 1)]],
    forMinutes: 5,
    summary: 'The replica {{ $labels.instance }} of {{ $labels.service }} does not answer.',
    test: {
      atMinute: 10,
      fires: {
        series: { 'up{service="payout",instance="a"}': steady(1), 'up{service="payout",instance="b"}': steady(0) },
        labels: { service: 'payout', instance: 'b' },
      },
      silent: {
        'up{service="payout",instance="a"}': '1+0x6 0+0x3 1+0x9',
        'up{service="web shop",instance="a"}': steady(0),
      },
    },
  },
  {
    name: 'ServiceNotReady',
    severity: 'page',
    when: [[below('max by (service, check) (gateway_ready)', 1)]],
    forMinutes: 1,
    summary: 'No replica of {{ $labels.service }} is ready: {{ $labels.check }}.',
    test: {
      atMinute: 5,
      fires: {
        series: {
          'gateway_ready{service="payout",instance="a",check="database"}': steady(0),
          'gateway_ready{service="payout",instance="b",check="database"}': steady(0),
          'gateway_ready{service="payout",instance="a",check="consumer"}': steady(1),
        },
        labels: { service: 'payout', check: 'database' },
      },
      silent: {
        'gateway_ready{service="payout",instance="a",check="database"}': steady(0),
        'gateway_ready{service="payout",instance="b",check="database"}': steady(1),
      },
    },
  },
  {
    name: 'ReplicaNotReady',
    severity: 'ticket',
    when: [[below('min by (service, instance, check) (gateway_ready)', 1)]],
    forMinutes: 10,
    summary: 'The replica {{ $labels.instance }} of {{ $labels.service }} is not ready: {{ $labels.check }}.',
    test: {
      atMinute: 15,
      fires: {
        series: { 'gateway_ready{service="payout",instance="a",check="clock"}': steady(0) },
        labels: { service: 'payout', instance: 'a', check: 'clock' },
      },
      silent: { 'gateway_ready{service="payout",instance="a",check="clock"}': '0+0x8 1+0x9' },
    },
  },
  {
    name: 'MetricsMissing',
    severity: 'ticket',
    when: [[below(MEASURED, 1)]],
    forMinutes: 5,
    summary: '{{ $labels.service }} does not report {{ $labels.metric }}, so alerts that need it cannot fire.',
    test: {
      atMinute: 10,
      fires: {
        series: {
          'up{service="auth-expiry",instance="a"}': steady(1),
          'gateway_deadlines_overdue{service="auth-expiry",kind="authorization"}': steady(0),
        },
        labels: { service: 'auth-expiry', metric: 'consumer_oldest_unhandled_seconds' },
      },
      silent: {
        'up{service="auth-expiry",instance="a"}': steady(1),
        'gateway_deadlines_overdue{service="auth-expiry",kind="authorization"}': steady(0),
        'consumer_oldest_unhandled_seconds{service="auth-expiry",group="auth-expiry"}': steady(0),
      },
      more: [
        {
          what: 'fires for the journal of api-edge',
          atMinute: 10,
          series: { 'up{service="api-edge",instance="a"}': steady(1) },
          fires: { labels: { service: 'api-edge', metric: 'gateway_deadlines_overdue' } },
        },
        {
          what: 'is silent while no replica answers',
          atMinute: 10,
          series: { 'up{service="auth-expiry",instance="a"}': steady(0) },
        },
      ],
    },
  },
  {
    name: 'ServiceRestarting',
    severity: 'ticket',
    when: [[above(`changes(process_start_time_seconds{${OURS}}[30m])`, 2)]],
    forMinutes: 0,
    summary: 'The replica {{ $labels.instance }} of {{ $labels.service }} has started three times within half an hour.',
    test: {
      atMinute: 25,
      fires: {
        series: { 'process_start_time_seconds{service="payout",instance="a"}': '1+0x5 2+0x5 3+0x5 4+0x20' },
        labels: { service: 'payout', instance: 'a' },
      },
      silent: {
        'process_start_time_seconds{service="payout",instance="a"}': '1+0x5 2+0x5 3+0x20',
        'process_start_time_seconds{service="web shop",instance="a"}': '1+0x5 2+0x5 3+0x5 4+0x20',
      },
    },
  },
  {
    name: 'ClockSkewed',
    severity: 'ticket',
    when: [[above('max by (service, instance) (abs(gateway_clock_skew_seconds))', 1)]],
    forMinutes: 5,
    summary: 'The clock of {{ $labels.instance }} ({{ $labels.service }}) is off by more than a second.',
    test: {
      atMinute: 10,
      fires: {
        series: { 'gateway_clock_skew_seconds{service="payout",instance="a"}': steady(-2) },
        labels: { service: 'payout', instance: 'a' },
      },
      silent: { 'gateway_clock_skew_seconds{service="payout",instance="a"}': steady(-0.9) },
    },
  },
  {
    name: 'EventLoopBlocked',
    severity: 'ticket',
    when: [[above(`max by (service, instance) (nodejs_eventloop_lag_p99_seconds{${OURS}})`, 0.5)]],
    forMinutes: 10,
    summary: 'The replica {{ $labels.instance }} of {{ $labels.service }} has too little CPU.',
    test: {
      atMinute: 15,
      fires: {
        series: { 'nodejs_eventloop_lag_p99_seconds{service="api-edge",instance="a"}': steady(0.6) },
        labels: { service: 'api-edge', instance: 'a' },
      },
      silent: {
        'nodejs_eventloop_lag_p99_seconds{service="api-edge",instance="a"}': '0.6+0x8 0.1+0x20',
        'nodejs_eventloop_lag_p99_seconds{service="web shop",instance="a"}': steady(0.6),
        nodejs_eventloop_lag_p99_seconds: steady(0.6),
      },
    },
  },
  {
    name: 'ReloadFailed',
    severity: 'ticket',
    when: [[above('max by (service, instance, files) (gateway_reload_failed)', 0)]],
    forMinutes: 1,
    summary: 'Changed files of {{ $labels.service }} ({{ $labels.files }}) cannot be used; the old ones stay in use.',
    test: {
      atMinute: 5,
      fires: {
        series: { 'gateway_reload_failed{service="payout",instance="a",files="CALLERS_FILE"}': steady(1) },
        labels: { service: 'payout', instance: 'a', files: 'CALLERS_FILE' },
      },
      silent: { 'gateway_reload_failed{service="payout",instance="a",files="CALLERS_FILE"}': steady(0) },
    },
  },
  {
    name: 'RecoveryUnderWay',
    severity: 'page',
    when: [[above('max by (service) (gateway_recovery)', 0)]],
    forMinutes: 1,
    summary:
      'The database of {{ $labels.service }} and Kafka do not fit; nothing new begins until an operator ends it.',
    test: {
      atMinute: 5,
      fires: {
        series: { 'gateway_recovery{service="payout",instance="a"}': steady(1) },
        labels: { service: 'payout' },
      },
      silent: { 'gateway_recovery{service="payout",instance="a"}': steady(0) },
    },
  },
  {
    name: 'CertificateExpires',
    severity: 'ticket',
    when: [[below('min by (service, port) (gateway_tls_certificate_days_left)', 14)]],
    forMinutes: 5,
    summary: 'The {{ $labels.port }} certificate of {{ $labels.service }} expires within two weeks.',
    test: {
      atMinute: 10,
      fires: {
        series: {
          'gateway_tls_certificate_days_left{service="threeds",instance="a",port="public"}': steady(14.5),
          'gateway_tls_certificate_days_left{service="threeds",instance="a",port="internal"}': steady(13.5),
        },
        labels: { service: 'threeds', port: 'internal' },
      },
      silent: {
        'gateway_tls_certificate_days_left{service="threeds",instance="a",port="public"}': steady(14.5),
        'gateway_tls_certificate_days_left{service="threeds",instance="a",port="internal"}': steady(14.5),
      },
    },
  },
  {
    name: 'ClientCertificateExpires',
    severity: 'ticket',
    when: [[below('min by (service, server) (gateway_client_certificate_days_left)', 14)]],
    forMinutes: 5,
    summary:
      'The certificate with which {{ $labels.service }} is known to {{ $labels.server }} expires within two weeks.',
    test: {
      atMinute: 10,
      fires: {
        series: { 'gateway_client_certificate_days_left{service="payout",instance="a",server="kafka"}': steady(13.5) },
        labels: { service: 'payout', server: 'kafka' },
      },
      silent: { 'gateway_client_certificate_days_left{service="payout",instance="a",server="kafka"}': steady(14.5) },
    },
  },
  {
    name: 'PlainInternalPorts',
    severity: 'ticket',
    when: [[above('max by (service) (gateway_plain_internal_ports)', 0)]],
    forMinutes: CHANGE_OVER_MINUTES,
    summary: 'Internal ports of {{ $labels.service }} have been open to plain HTTP for a day.',
    test: {
      atMinute: CHANGE_OVER_MINUTES + 10,
      fires: {
        series: { 'gateway_plain_internal_ports{service="payout",instance="a"}': steady(1, CHANGE_OVER_MINUTES + 60) },
        labels: { service: 'payout' },
      },
      silent: { 'gateway_plain_internal_ports{service="payout",instance="a"}': steady(0, CHANGE_OVER_MINUTES + 60) },
    },
  },
  {
    name: 'CallersRefused',
    severity: 'ticket',
    when: [[above('sum by (service, reason) (increase(gateway_internal_requests_refused_total[15m]))', 0)]],
    forMinutes: 0,
    summary: 'Requests to internal ports of {{ $labels.service }} are refused ({{ $labels.reason }}).',
    test: {
      atMinute: 20,
      fires: {
        series: { 'gateway_internal_requests_refused_total{service="payout",reason="role"}': growing(1) },
        labels: { service: 'payout', reason: 'role' },
      },
      silent: { 'gateway_internal_requests_refused_total{service="payout",reason="role"}': steady(7) },
    },
  },
  {
    name: 'RetiredKeyKept',
    severity: 'ticket',
    when: [[above('max by (service, ring) (gateway_vault_keys{state="retired"})', 0)]],
    forMinutes: KEY_ROTATION_MINUTES,
    summary: '{{ $labels.service }} has held a retired key of {{ $labels.ring }} for a day.',
    test: {
      atMinute: KEY_ROTATION_MINUTES + 5,
      fires: {
        series: {
          'gateway_vault_keys{service="threeds",ring="CARD_KEYS",state="retired"}': steady(
            1,
            KEY_ROTATION_MINUTES + 10,
          ),
        },
        labels: { service: 'threeds', ring: 'CARD_KEYS' },
      },
      silent: {
        'gateway_vault_keys{service="threeds",ring="CARD_KEYS",state="retired"}': `1+0x${KEY_ROTATION_MINUTES - 10} 0+0x30`,
      },
    },
  },
];
