import type { Dashboard } from '../dashboard';
import { graph, number, quantile, query } from '../dashboard';

const CARD_OPERATIONS = 'operation=~"SALE|AUTH|SETTLE|VOID|REFUND|SALE3D|AUTH3D"';

export const cards: Dashboard = {
  uid: 'gateway-cards',
  title: 'Payment gateway: cards',
  description: 'Card operations, acquirers, 3-D Secure and expiring authorizations.',
  rows: [
    {
      title: 'Operations',
      panels: [
        graph(
          'Operations',
          'reqps',
          query(
            '{{operation}}',
            `sum by (operation) (rate(gateway_operation_seconds_count{${CARD_OPERATIONS}}[$__rate_interval]))`,
          ),
        ),
        graph(
          'Ends without success, by class of code',
          'reqps',
          query(
            '{{operation}} {{class}}',
            `sum by (operation, class) (rate(gateway_operation_seconds_count{${CARD_OPERATIONS},class!="success"}[$__rate_interval]))`,
          ),
        ),
        graph(
          'Duration, 95 %',
          's',
          query('{{operation}}', quantile(0.95, `gateway_operation_seconds_bucket{${CARD_OPERATIONS}}`, 'operation')),
        ),
      ],
    },
    {
      title: 'Acquirers',
      panels: [
        graph(
          'Calls',
          'cps',
          query(
            '{{counterpart}} {{operation}} {{answer}}',
            'sum by (counterpart, operation, answer) (rate(gateway_outbound_call_seconds_count{service="card-processing"}[$__rate_interval]))',
          ),
        ),
        graph(
          'Duration, 95 %',
          's',
          query(
            '{{counterpart}} {{operation}}',
            quantile(0.95, 'gateway_outbound_call_seconds_bucket{service="card-processing"}', 'counterpart, operation'),
          ),
        ),
        graph(
          'Places in use',
          'percentunit',
          query(
            '{{counterpart}} {{lane}}',
            'sum by (counterpart, lane) (gateway_outbound_in_use{service="card-processing"}) / sum by (counterpart, lane) (gateway_outbound_places{service="card-processing"})',
          ),
          'At 100 % calls wait, up to their limit.',
        ),
        graph(
          'Calls that wait for a place',
          'short',
          query(
            '{{counterpart}} {{lane}}',
            'sum by (counterpart, lane) (gateway_outbound_waiting{service="card-processing"})',
          ),
        ),
        graph(
          'Calls not made',
          'cps',
          query(
            '{{counterpart}} {{reason}}',
            'sum by (counterpart, reason) (rate(gateway_outbound_refused_total{service="card-processing"}[$__rate_interval]))',
          ),
        ),
        graph('Open circuits', 'short', [
          query(
            '{{counterpart}}: all accounts',
            'max by (counterpart) (gateway_outbound_circuit_open{service="card-processing"})',
          ),
          query(
            '{{counterpart}}: single accounts',
            'max by (counterpart) (gateway_outbound_open_parties{service="card-processing"})',
          ),
        ]),
      ],
    },
    {
      title: 'Unknown outcomes and holds',
      panels: [
        number('Unknown outcomes', 'short', query('', 'max(gateway_unknown_outcomes_open{service="card-processing"})')),
        number('The oldest', 's', query('', 'max(gateway_unknown_outcome_oldest_seconds{service="card-processing"})')),
        number('Authorizations with a deadline', 'short', query('', 'max(expiry_open)')),
        number('Deadlines that are due', 'short', query('', 'max(expiry_due)')),
        number('Overdue', 'short', query('{{service}} {{kind}}', 'max by (service, kind) (gateway_deadlines_overdue)')),
        number('Most overdue deadline', 's', query('', 'max(expiry_lag_seconds)')),
        number('Oldest hold after its end', 's', query('', 'max(expiry_oldest_hold_seconds)')),
        graph(
          'Requests to end holds',
          'cps',
          query('{{outcome}}', 'sum by (outcome) (rate(expiry_asks_total[$__rate_interval]))'),
        ),
      ],
    },
    {
      title: '3-D Secure and card testing',
      panels: [
        graph(
          'Authentications',
          'cps',
          query('{{outcome}}', 'sum by (outcome) (rate(gateway_authentications_total[$__rate_interval]))'),
        ),
        graph(
          'Directory server, 95 %',
          's',
          query('{{answer}}', quantile(0.95, 'gateway_outbound_call_seconds_bucket{service="threeds"}', 'answer')),
        ),
        graph(
          'Declined by velocity rules',
          'cps',
          query('{{rule}}', 'sum by (rule) (rate(gateway_velocity_declines_total[$__rate_interval]))'),
        ),
        graph(
          'Card-entry pages',
          'reqps',
          query(
            '{{method}} {{status}}',
            'sum by (method, status) (rate(gateway_page_requests_total[$__rate_interval]))',
          ),
        ),
      ],
    },
  ],
};
