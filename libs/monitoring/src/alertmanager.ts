/** Alerts whose cause the services themselves name: what else pages meanwhile follows from it. */
const CAUSES = 'ServiceDown|ServiceNotReady';
/** What merchants, queues and outboxes show when services or their servers are away. */
const CONSEQUENCES =
  'ApiErrors|ApiSlow|CallbacksLate|OutcomesLate|ConsumerBehind|OutboxStuck|PublishStuck|CallsUnanswered|NoPayments';

const matching = (name: string) => [`alertname=~"${name}"`];
const paged = (name: string) => [`alertname="${name}"`, 'severity="page"'];

/**
 * An example for Alertmanager: one message for an outage, and none for what follows from it. One Alertmanager, or one route
 * of it, for each installation: nothing here tells installations apart.
 */
export function alertmanagerFile() {
  const route = (severity: string, more: object) => ({ matchers: [`severity="${severity}"`], ...more });
  return {
    route: {
      receiver: 'ticket',
      // All pages of an outage in one message, whichever services notice it.
      group_by: ['severity'],
      group_wait: '30s',
      group_interval: '5m',
      repeat_interval: '4h',
      routes: [
        route('page', { receiver: 'page' }),
        // A dead man's switch: the receiver raises the alarm when it hears nothing for three of these.
        route('none', { receiver: 'watchdog', group_wait: '0s', group_interval: '1m', repeat_interval: '1m' }),
        route('ticket', { receiver: 'ticket', group_by: ['alertname'], repeat_interval: '3d' }),
      ],
    },
    inhibit_rules: [
      { source_matchers: matching(CAUSES), target_matchers: matching(CONSEQUENCES) },
      // The page says it already.
      { source_matchers: ['severity="page"'], target_matchers: ['severity="ticket"'], equal: ['alertname', 'slo'] },
      {
        source_matchers: paged('ServiceDown'),
        target_matchers: matching('ReplicaDown|MetricsMissing'),
        equal: ['service'],
      },
      {
        source_matchers: paged('ServiceNotReady'),
        target_matchers: matching('ReplicaNotReady'),
        equal: ['service', 'check'],
      },
      { source_matchers: paged('ServiceDown'), target_matchers: matching('ServiceNotReady'), equal: ['service'] },
    ],
    receivers: ['page', 'ticket', 'watchdog'].map((name) => ({
      name,
      webhook_configs: [{ url: `https://on-call.example.com/${name}`, send_resolved: name !== 'watchdog' }],
    })),
  };
}
