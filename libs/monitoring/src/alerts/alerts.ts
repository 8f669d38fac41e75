import type { Alert } from '../alert';
import { sloAlerts } from '../slos';
import { businessAlerts, counterpartAlerts } from './business';
import { messageAlerts } from './messages';
import { processAlerts } from './processes';
import { watchAlerts } from './watch';

/** Alerts by the name of their group in Prometheus. */
export const alertGroups: Readonly<Record<string, readonly Alert[]>> = {
  objectives: sloAlerts(),
  processes: processAlerts,
  messages: messageAlerts,
  counterparts: counterpartAlerts,
  business: businessAlerts,
  watch: watchAlerts,
};

export const alerts: readonly Alert[] = Object.values(alertGroups).flat();
