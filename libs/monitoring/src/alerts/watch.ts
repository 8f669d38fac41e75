import type { Alert } from '../alert';
import { above, atLeast, below, growing, steady } from '../alert';

/** Requests of merchants, those without a known path left out. */
const REQUESTS = 'gateway_requests_total{path!="other"}';
/** Jobs of the chart, as kube-state-metrics shows them; elsewhere there is no such series. */
const FAILED_JOBS =
  'max by (namespace, job_name) (kube_job_failed{job_name=~".+-(provisioning|doctor|audit)(-[0-9]+)?",condition="true"})';

/** What watches the business as a whole, the Jobs, and the monitoring itself. */
export const watchAlerts: readonly Alert[] = [
  {
    name: 'NoPayments',
    severity: 'page',
    when: [
      [
        // An `increase` extrapolates, but never from nothing to something.
        below(`sum(increase(${REQUESTS}[15m]))`, 0.5),
        // Two a minute on average. A quiet shop may be quiet.
        atLeast(240, `sum(increase(${REQUESTS}[2h]))`),
      ],
    ],
    forMinutes: 0,
    summary: 'No request of any merchant has arrived for a quarter of an hour, after a steady flow.',
    test: {
      atMinute: 116,
      fires: { series: { 'gateway_requests_total{path="/transactions"}': '0+3x100 300+0x60' }, labels: {} },
      silent: { 'gateway_requests_total{path="/transactions"}': '0+1x100 100+0x60' },
      more: [
        {
          what: 'is silent while requests arrive',
          atMinute: 116,
          series: { 'gateway_requests_total{path="/transactions"}': growing(3, 160) },
        },
        {
          what: 'fires although strangers try addresses',
          atMinute: 116,
          series: {
            'gateway_requests_total{path="/transactions"}': '0+3x100 300+0x60',
            'gateway_requests_total{path="other"}': growing(9, 160),
          },
          fires: { labels: {} },
        },
      ],
    },
  },
  {
    name: 'JobFailed',
    severity: 'ticket',
    when: [[above(`${FAILED_JOBS} or label_replace(vector(0), "job_name", "none", "", "")`, 0)]],
    forMinutes: 0,
    summary: 'The Job {{ $labels.job_name }} in {{ $labels.namespace }} has failed.',
    test: {
      atMinute: 5,
      fires: {
        series: {
          'kube_job_failed{namespace="payments",job_name="gateway-doctor-29345",condition="true"}': steady(1),
        },
        labels: { namespace: 'payments', job_name: 'gateway-doctor-29345' },
      },
      silent: {
        'kube_job_failed{namespace="payments",job_name="gateway-doctor-29345",condition="true"}': steady(0),
        'kube_job_failed{namespace="shop",job_name="backup-29345",condition="true"}': steady(1),
      },
    },
  },
  {
    name: 'Watchdog',
    severity: 'none',
    when: [[above('vector(1)', 0)]],
    forMinutes: 0,
    summary: 'Always fires: whoever stops to receive it has lost Prometheus or Alertmanager.',
    test: { atMinute: 1, fires: { series: {}, labels: {} } },
  },
];
