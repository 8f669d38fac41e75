import type { Dashboard } from '../dashboard';
import { graph, number, quantile, query } from '../dashboard';

export const payouts: Dashboard = {
  uid: 'gateway-payouts',
  title: 'Payment gateway: payouts',
  description: 'Payouts, banks, holds and payment files.',
  rows: [
    {
      title: 'Requests',
      panels: [
        graph(
          'Requests',
          'reqps',
          query(
            '{{operation}} {{class}}',
            'sum by (operation, class) (rate(gateway_operation_seconds_count{operation=~"PAYOUT.*"}[$__rate_interval]))',
          ),
        ),
        graph(
          'Duration, 95 %',
          's',
          query(
            '{{operation}}',
            quantile(0.95, 'gateway_operation_seconds_bucket{operation=~"PAYOUT.*"}', 'operation'),
          ),
        ),
      ],
    },
    {
      title: 'Banks',
      panels: [
        graph(
          'Calls',
          'cps',
          query(
            '{{counterpart}} {{operation}} {{answer}}',
            'sum by (counterpart, operation, answer) (rate(gateway_outbound_call_seconds_count{service="payout"}[$__rate_interval]))',
          ),
        ),
        graph(
          'Duration, 95 %',
          's',
          query(
            '{{counterpart}} {{operation}}',
            quantile(0.95, 'gateway_outbound_call_seconds_bucket{service="payout"}', 'counterpart, operation'),
          ),
        ),
        graph(
          'Places in use',
          'percentunit',
          query(
            '{{counterpart}} {{lane}}',
            'sum by (counterpart, lane) (gateway_outbound_in_use{service="payout"}) / sum by (counterpart, lane) (gateway_outbound_places{service="payout"})',
          ),
        ),
        graph(
          'Calls not made',
          'cps',
          query(
            '{{counterpart}} {{reason}}',
            'sum by (counterpart, reason) (rate(gateway_outbound_refused_total{service="payout"}[$__rate_interval]))',
          ),
        ),
        graph(
          'Accounts with the most calls',
          'short',
          query('{{party}}', 'sum by (party) (gateway_outbound_party_calls{service="payout"})'),
        ),
        graph('Open circuits', 'short', [
          query(
            '{{counterpart}}: all accounts',
            'max by (counterpart) (gateway_outbound_circuit_open{service="payout"})',
          ),
          query(
            '{{counterpart}}: single accounts',
            'max by (counterpart) (gateway_outbound_open_parties{service="payout"})',
          ),
        ]),
      ],
    },
    {
      title: 'What waits',
      panels: [
        number('Unknown outcomes', 'short', query('', 'max(gateway_unknown_outcomes_open{service="payout"})')),
        number('The oldest', 's', query('', 'max(gateway_unknown_outcome_oldest_seconds{service="payout"})')),
        number('Held payouts', 'short', query('', 'max(gateway_payouts_held)')),
        number('Holds', 'short', query('{{scope}}', 'max by (scope) (gateway_payout_holds)')),
        number('Oldest unhandled command', 's', query('', 'max(consumer_oldest_unhandled_seconds{group="payout"})')),
      ],
    },
    {
      title: 'Payment files (PAYOUT_BANK is iso20022)',
      panels: [
        number('Files that wait for an operator', 'short', query('', 'max(gateway_iso20022_held_batches)')),
        number('Files without a report', 'short', query('', 'max(gateway_iso20022_unreported_batches)')),
        number('The oldest of them', 's', query('', 'max(gateway_iso20022_oldest_unreported_seconds)')),
        number('Files without all outcomes, overdue', 'short', query('', 'max(gateway_iso20022_overdue_batches)')),
        number('The oldest without', 's', query('', 'max(gateway_iso20022_oldest_undecided_seconds)')),
        number('Files in the inbox', 'short', query('{{kind}}', 'max by (kind) (gateway_iso20022_inbox_files)')),
        graph(
          'Reports of the bank',
          'cps',
          query('{{result}}', 'sum by (result) (rate(gateway_iso20022_reports_total[$__rate_interval]))'),
        ),
      ],
    },
  ],
};
