import type { Alert } from '../alert';
import { above, growing, olderThan, steady, TICKET_MINUTE, TICKET_WINDOW } from '../alert';

/** In minutes: a shift after the event. */
const HOURS_LATER = 12 * 60;

/** Kafka, the outboxes and dead letters. */
export const messageAlerts: readonly Alert[] = [
  {
    name: 'ConsumerBehind',
    severity: 'page',
    when: [[olderThan('max by (group, topic) (consumer_oldest_unhandled_seconds)', 60)]],
    forMinutes: 2,
    summary: 'A message on {{ $labels.topic }} has been waiting for {{ $labels.group }} for more than a minute.',
    test: {
      atMinute: 6,
      fires: {
        series: { 'consumer_oldest_unhandled_seconds{group="payout",topic="payout.commands.v1"}': '0+60x60' },
        labels: { group: 'payout', topic: 'payout.commands.v1' },
      },
      silent: { 'consumer_oldest_unhandled_seconds{group="payout",topic="payout.commands.v1"}': steady(59) },
    },
  },
  {
    name: 'OutboxStuck',
    severity: 'page',
    when: [[olderThan('max by (service, collection) (gateway_outbox_oldest_age_seconds)', 60)]],
    forMinutes: 1,
    summary:
      'Events of {{ $labels.service }} ({{ $labels.collection }}) have not been published for more than a minute.',
    test: {
      atMinute: 5,
      fires: {
        series: { 'gateway_outbox_oldest_age_seconds{service="payout",collection="payouts"}': '0+60x60' },
        labels: { service: 'payout', collection: 'payouts' },
      },
      silent: { 'gateway_outbox_oldest_age_seconds{service="payout",collection="payouts"}': steady(59) },
    },
  },
  {
    name: 'PublishStuck',
    severity: 'page',
    when: [[above('sum by (service) (publish_stuck_partitions)', 0)]],
    forMinutes: 1,
    summary: '{{ $labels.service }} cannot publish to some partitions.',
    test: {
      atMinute: 5,
      fires: {
        series: { 'publish_stuck_partitions{service="api-edge",instance="a"}': steady(2) },
        labels: { service: 'api-edge' },
      },
      silent: { 'publish_stuck_partitions{service="api-edge",instance="a"}': '0+0x4 3+0x0 0+0x9' },
    },
  },
  {
    name: 'PublishFailing',
    severity: 'ticket',
    when: [[above('sum by (service, reason) (rate(publish_failed_attempts_total[5m]))', 0)]],
    forMinutes: 10,
    summary: '{{ $labels.service }} has to repeat its requests to the brokers ({{ $labels.reason }}).',
    test: {
      atMinute: 20,
      fires: {
        series: { 'publish_failed_attempts_total{service="payout",reason="broker"}': growing(2) },
        labels: { service: 'payout', reason: 'broker' },
      },
      silent: { 'publish_failed_attempts_total{service="payout",reason="broker"}': '0+0x12 5+0x30' },
    },
  },
  {
    name: 'DeadLetters',
    severity: 'ticket',
    when: [[above(`sum by (service) (increase(messages_consumed_total{outcome="dead_lettered"}${TICKET_WINDOW}))`, 0)]],
    forMinutes: 0,
    summary: '{{ $labels.service }} has put a message that it cannot process aside.',
    test: {
      atMinute: TICKET_MINUTE,
      fires: {
        series: {
          'messages_consumed_total{service="payout",group="payout",outcome="dead_lettered"}': `0+0x10 1+0x${TICKET_MINUTE}`,
        },
        labels: { service: 'payout' },
      },
      silent: {
        'messages_consumed_total{service="payout",group="payout",outcome="dead_lettered"}': steady(3, TICKET_MINUTE),
        'messages_consumed_total{service="payout",group="payout",outcome="handled"}': growing(100, TICKET_MINUTE),
      },
    },
  },
  {
    name: 'OutcomeUnrecorded',
    severity: 'page',
    when: [[above('sum by (service) (increase(messages_consumed_total{outcome="unrecorded"}[1d]))', 0)]],
    forMinutes: 0,
    summary: '{{ $labels.service }} could not record the outcome of a dead-lettered message.',
    test: {
      atMinute: HOURS_LATER,
      fires: {
        series: {
          'messages_consumed_total{service="payout",group="payout",outcome="unrecorded"}': `0+0x10 1+0x${HOURS_LATER}`,
        },
        labels: { service: 'payout' },
      },
      silent: {
        'messages_consumed_total{service="payout",group="payout",outcome="unrecorded"}': steady(1, HOURS_LATER),
      },
    },
  },
];
