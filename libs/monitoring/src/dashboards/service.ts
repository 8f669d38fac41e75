import type { Dashboard } from '../dashboard';
import { graph, number, quantile, query, signed } from '../dashboard';

const OWN = 'service=~"$service",instance=~"$instance"';

export const service: Dashboard = {
  uid: 'gateway-service',
  title: 'Payment gateway: one service',
  description: 'The replicas of a service: what runs, load, errors, and use of the machine.',
  variables: [
    { name: 'service', of: 'gateway_build_info' },
    { name: 'instance', of: 'gateway_build_info{service=~"$service"}' },
  ],
  rows: [
    {
      title: 'Replicas',
      panels: [
        graph(
          'Versions',
          'short',
          query(
            '{{service}} {{version}} {{commit}}',
            `count by (service, version, commit) (gateway_build_info{${OWN}})`,
          ),
        ),
        graph(
          'Readiness',
          'bool_yes_no',
          query('{{instance}} {{check}}', `min by (instance, check) (gateway_ready{${OWN}})`),
        ),
        graph('Age of the process', 's', query('{{instance}}', `time() - process_start_time_seconds{${OWN}}`)),
        signed(
          graph(
            'Clock ahead of the database',
            's',
            query('{{instance}}', `gateway_clock_skew_seconds{${OWN}}`),
            'Below 0 the clock is behind.',
          ),
        ),
        number('Keys', 'short', query('{{ring}} {{state}}', `max by (ring, state) (gateway_vault_keys{${OWN}})`)),
        number(
          'Certificates, days left',
          'd',
          query('{{port}}', `min by (port) (gateway_tls_certificate_days_left{${OWN}})`),
        ),
        number(
          'Files that cannot be used',
          'short',
          query('{{files}}', `max by (files) (gateway_reload_failed{${OWN}})`),
        ),
        number(
          'Refused internal requests of an hour',
          'short',
          query('', `sum(increase(gateway_internal_requests_refused_total{${OWN}}[1h]))`),
        ),
      ],
    },
    {
      title: 'Rate, errors, duration',
      panels: [
        graph(
          'Merchants: answers',
          'reqps',
          query(
            '{{operation}} {{class}}',
            `sum by (operation, class) (rate(gateway_operation_seconds_count{${OWN}}[$__rate_interval]))`,
          ),
        ),
        graph(
          'Messages',
          'cps',
          query('{{outcome}}', `sum by (outcome) (rate(messages_consumed_total{${OWN}}[$__rate_interval]))`),
        ),
        graph(
          'Messages, 95 %',
          's',
          query('{{type}}', quantile(0.95, `message_handling_seconds_bucket{${OWN}}`, 'type')),
        ),
        graph(
          'Counterparts: calls',
          'cps',
          query(
            '{{counterpart}} {{answer}}',
            `sum by (counterpart, answer) (rate(gateway_outbound_call_seconds_count{${OWN}}[$__rate_interval]))`,
          ),
        ),
        graph(
          'Counterparts, 95 %',
          's',
          query(
            '{{counterpart}} {{operation}}',
            quantile(0.95, `gateway_outbound_call_seconds_bucket{${OWN}}`, 'counterpart, operation'),
          ),
        ),
        graph('Merchants under way', 'short', [
          query('{{instance}} all', `gateway_requests_concurrent{${OWN}}`),
          query('{{account}}', `sum by (account) (gateway_account_requests_concurrent{${OWN}})`),
          query('{{account}} pages', `sum by (account) (gateway_account_page_requests_concurrent{${OWN}})`),
          query('{{account}} polls', `sum by (account) (gateway_account_polls_concurrent{${OWN}})`),
        ]),
      ],
    },
    {
      title: 'Use of the machine',
      panels: [
        graph(
          'CPU',
          'percentunit',
          query('{{instance}}', `rate(process_cpu_seconds_total{${OWN}}[$__rate_interval])`),
          'Of one core.',
        ),
        graph(
          'Event loop, 99 %',
          's',
          query('{{instance}}', `nodejs_eventloop_lag_p99_seconds{${OWN}}`),
          'Time between two looks at the loop, which are 50 ms apart when nothing delays them: 0.05 s is idle.',
        ),
        graph('Memory', 'bytes', [
          query('{{instance}} resident', `process_resident_memory_bytes{${OWN}}`),
          query('{{instance}} heap', `nodejs_heap_size_used_bytes{${OWN}}`),
        ]),
        graph(
          'Garbage collection',
          'percentunit',
          query(
            '{{instance}} {{kind}}',
            `sum by (instance, kind) (rate(nodejs_gc_duration_seconds_sum{${OWN}}[$__rate_interval]))`,
          ),
          'Share of the time.',
        ),
        graph('Connections of the public port', 'short', query('{{instance}}', `gateway_connections_open{${OWN}}`)),
        graph(
          'Closed connections',
          'cps',
          query('{{limit}}', `sum by (limit) (rate(gateway_connections_closed_total{${OWN}}[$__rate_interval]))`),
        ),
        graph('Accounts behind one address', 'short', query('{{instance}}', `gateway_source_accounts_max{${OWN}}`)),
      ],
    },
  ],
};
