import type { Alert } from '../alert';
import { sloAlerts } from '../slos';
import { businessAlerts, counterpartAlerts } from './business';
import { messageAlerts } from './messages';
import { processAlerts } from './processes';

/** Alerts by the name of their group in Prometheus. */
export const alertGroups: Readonly<Record<string, readonly Alert[]>> = {
  objectives: sloAlerts(),
  processes: processAlerts,
  messages: messageAlerts,
  counterparts: counterpartAlerts,
  business: businessAlerts,
};

export const alerts: readonly Alert[] = Object.values(alertGroups).flat();
