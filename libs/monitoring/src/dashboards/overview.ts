import type { Dashboard } from '../dashboard';
import { graph, number, quantile, query } from '../dashboard';
import { OURS } from '../own-services';

export const overview: Dashboard = {
  uid: 'gateway-overview',
  title: 'Payment gateway: overview',
  description: 'What merchants see, whether the objectives hold, and what waits.',
  rows: [
    {
      title: 'Objectives',
      panels: [
        graph(
          'Burn rate over an hour',
          'short',
          query('{{slo}}', 'slo:burn_rate:1h'),
          'At 1 the budget of 30 days lasts 30 days. Above 14.4 somebody is paged.',
        ),
        graph('Burn rate over three days', 'short', query('{{slo}}', 'slo:burn_rate:3d')),
        graph('Replicas that answer', 'short', query('{{service}}', `sum by (service) (up{${OURS}})`)),
      ],
    },
    {
      title: 'Merchants',
      panels: [
        graph(
          'Requests',
          'reqps',
          query('{{operation}}', 'sum by (operation) (rate(gateway_operation_seconds_count[$__rate_interval]))'),
        ),
        graph(
          'Answers by class of code',
          'reqps',
          query('{{class}}', 'sum by (class) (rate(gateway_operation_seconds_count[$__rate_interval]))'),
          'unknown: the merchant does not know the outcome yet. request, account: the merchant has to change something.',
        ),
        graph('Duration', 's', [
          query('50 %', quantile(0.5, 'gateway_operation_seconds_bucket', '')),
          query('95 %', quantile(0.95, 'gateway_operation_seconds_bucket', '')),
          query('99 %', quantile(0.99, 'gateway_operation_seconds_bucket', '')),
        ]),
      ],
    },
    {
      title: 'What waits',
      panels: [
        number('Unknown outcomes', 'short', query('', 'sum(max by (service) (gateway_unknown_outcomes_open))')),
        number('Oldest unknown outcome', 's', query('', 'max(gateway_unknown_outcome_oldest_seconds)')),
        number('Callbacks overdue', 'short', query('', 'max(callback_overdue)')),
        number('Oldest unhandled message', 's', query('', 'max(consumer_oldest_unhandled_seconds)')),
        number('Oldest unpublished event', 's', query('', 'max(gateway_outbox_oldest_age_seconds)')),
        number(
          'Dead letters of 24 hours',
          'short',
          query('', 'sum(increase(messages_consumed_total{outcome="dead_lettered"}[24h]))'),
        ),
      ],
    },
    {
      title: 'Counterparts and processes',
      panels: [
        graph(
          'Calls without a usable answer',
          'cps',
          query(
            '{{counterpart}} {{answer}}',
            'sum by (counterpart, answer) (rate(gateway_outbound_call_seconds_count{answer=~"unknown|not-executed|not-sent|unavailable"}[$__rate_interval]))',
          ),
        ),
        graph(
          'CPU',
          'percentunit',
          query('{{service}}', `sum by (service) (rate(process_cpu_seconds_total{${OURS}}[$__rate_interval]))`),
        ),
        graph(
          'Failing checks of readiness',
          'short',
          query(
            '{{service}} {{check}}',
            'count by (service, check) (gateway_ready == 0) or 0 * count by (service, check) (gateway_ready)',
          ),
        ),
      ],
    },
  ],
};
