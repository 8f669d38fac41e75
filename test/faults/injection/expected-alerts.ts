import type { FaultKind } from './schedule';

/**
 * Names of the alerts that must fire while a fault lasts, and end after it. Most faults heal by themselves: nobody has to
 * act, so nobody is told.
 */
export const EXPECTED_ALERTS: Readonly<Record<FaultKind, readonly string[]>> = {
  'acquirer slow': ['CallsUnanswered', 'CounterpartSlow'],
  'acquirer silent': ['CallsUnanswered'],
  'acquirer lying': ['CallsUnanswered'],
  'acquirer dead': ['CallsUnanswered'],
  'bank slow': ['CallsUnanswered', 'CounterpartSlow'],
  'bank silent': ['CallsUnanswered'],
  'bank lying': ['CallsUnanswered'],
  'bank dead': ['CallsUnanswered'],
  'receivers failing': ['CallbacksNotAcknowledged'],
  'receivers hanging': ['CallbacksNotAcknowledged'],
  'receivers absent': ['CallbacksNotAcknowledged'],
  'service away': ['ServiceDown'],
  'replica frozen': ['ReplicaDown'],
  'clock off': ['ClockSkewed'],
  'primary killed': ['ServiceNotReady', 'ApiErrors'],
  'primary frozen': ['ServiceNotReady'],
  'primary stepped down': ['ServiceNotReady'],
  // The next process is there within seconds, and the other replica meanwhile.
  'replica killed': [],
  'replica terminated': [],
  'simulator killed': [],
  // Two brokers are enough, and leaders move within seconds.
  'broker killed': [],
  'broker stopped': [],
  'broker frozen': [],
  'brokers rolled': [],
  'leaders moved': [],
  // Handlers are idempotent.
  'messages repeated': [],
  'group rewound': [],
};
