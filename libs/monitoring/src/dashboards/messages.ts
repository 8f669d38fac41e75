import type { Dashboard } from '../dashboard';
import { graph, quantile, query } from '../dashboard';

export const messages: Dashboard = {
  uid: 'gateway-messages',
  title: 'Payment gateway: Kafka and outboxes',
  description: 'What is published, handled, retried and put aside.',
  rows: [
    {
      title: 'Consumers',
      panels: [
        graph(
          'Oldest unhandled message',
          's',
          query('{{group}} {{topic}}', 'max by (group, topic) (consumer_oldest_unhandled_seconds)'),
          'The lag alone misleads: the committed position stands behind one slow call.',
        ),
        graph('Lag', 'short', query('{{group}} {{topic}}', 'sum by (group, topic) (consumer_lag_messages)')),
        graph(
          'Messages',
          'cps',
          query('{{group}} {{outcome}}', 'sum by (group, outcome) (rate(messages_consumed_total[$__rate_interval]))'),
        ),
        graph(
          'Failed attempts',
          'cps',
          query('{{group}}', 'sum by (group) (rate(message_failures_total[$__rate_interval]))'),
        ),
        graph(
          'Duration of an attempt, 95 %',
          's',
          query('{{group}} {{type}}', quantile(0.95, 'message_handling_seconds_bucket', 'group, type')),
        ),
        graph('Taken and not finished', 'short', query('{{group}}', 'sum by (group) (messages_held)')),
        graph(
          'Paused partitions',
          'short',
          query('{{group}}', 'sum by (group) (partitions_paused)'),
          'A replica does not fetch them, because it is full.',
        ),
      ],
    },
    {
      title: 'Publishers and outboxes',
      panels: [
        graph(
          'Oldest unpublished event',
          's',
          query('{{service}} {{collection}}', 'max by (service, collection) (gateway_outbox_oldest_age_seconds)'),
        ),
        graph(
          'Published',
          'cps',
          query('{{service}}', 'sum by (service) (rate(messages_published_total[$__rate_interval]))'),
        ),
        graph(
          'Failed attempts',
          'cps',
          query(
            '{{service}} {{reason}}',
            'sum by (service, reason) (rate(publish_failed_attempts_total[$__rate_interval]))',
          ),
        ),
        graph(
          'Refused',
          'cps',
          query('{{service}} {{reason}}', 'sum by (service, reason) (rate(messages_refused_total[$__rate_interval]))'),
        ),
        graph(
          'Waiting for the acknowledgement',
          'short',
          query('{{service}}', 'sum by (service) (publish_queued_messages)'),
        ),
        graph('Stuck partitions', 'short', query('{{service}}', 'sum by (service) (publish_stuck_partitions)')),
        graph(
          'Duration of a request to the brokers, 95 %',
          's',
          query('{{service}}', quantile(0.95, 'publish_duration_seconds_bucket', 'service')),
        ),
        graph(
          'Messages in a request',
          'short',
          query(
            '{{service}}',
            'sum by (service) (rate(publish_batch_messages_sum[$__rate_interval])) / sum by (service) (rate(publish_batch_messages_count[$__rate_interval]))',
          ),
        ),
      ],
    },
  ],
};
