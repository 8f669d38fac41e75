import type { Dashboard } from '../dashboard';
import { graph, number, quantile, query } from '../dashboard';

export const callbacks: Dashboard = {
  uid: 'gateway-callbacks',
  title: 'Payment gateway: callbacks',
  description: 'Deliveries to merchants, and which of their servers are slow or dead.',
  rows: [
    {
      title: 'Deliveries',
      panels: [
        number(
          'Overdue',
          'short',
          query('', 'max(callback_overdue)'),
          'Due for a minute and not tried. Anything but 0 uses up the error budget.',
        ),
        number('Not delivered yet', 'short', query('{{state}}', 'max by (state) (callback_deliveries_open)')),
        number('The oldest', 's', query('', 'max(callback_oldest_undelivered_seconds)')),
        number(
          'Dead addresses',
          'short',
          query('', 'max(callback_open_circuits)'),
          'As the replica sees it that knows most of them: each finds out by itself, so a sum would count them twice.',
        ),
        graph(
          'Ends',
          'cps',
          query('{{kind}} {{end}}', 'sum by (kind, end) (rate(callback_deliveries_total[$__rate_interval]))'),
        ),
        graph(
          'Attempts',
          'cps',
          query('{{kind}} {{outcome}}', 'sum by (kind, outcome) (rate(callback_attempts_total[$__rate_interval]))'),
        ),
        graph('Duration of an attempt', 's', [
          query('{{kind}} 50 %', quantile(0.5, 'callback_attempt_seconds_bucket', 'kind')),
          query('{{kind}} 95 %', quantile(0.95, 'callback_attempt_seconds_bucket', 'kind')),
        ]),
      ],
    },
    {
      title: 'Capacity',
      panels: [
        graph('Attempts under way', 'short', [
          query('{{instance}}', 'sum by (instance) (callback_in_flight)'),
          query('{{instance}}, new or slow addresses', 'sum by (instance) (callback_in_flight_unproven)'),
        ]),
        graph(
          'Accounts with the most attempts',
          'short',
          query('{{account}}', 'sum by (account) (callback_in_flight_by_account)'),
        ),
        graph(
          'Deliveries that wait in a replica',
          'short',
          query('{{instance}}', 'sum by (instance) (callback_waiting)'),
        ),
        graph(
          'Oldest unhandled event',
          's',
          query('{{topic}}', 'max by (topic) (consumer_oldest_unhandled_seconds{group="callback-dispatcher"})'),
        ),
      ],
    },
  ],
};
