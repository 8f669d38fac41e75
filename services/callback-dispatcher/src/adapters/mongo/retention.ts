import type { RecordRetention } from '@gateway/service-kit';
import { RECORD_RETENTION } from '@gateway/service-kit';

/** How long ended deliveries and attempts are kept, unless settings say otherwise. */
export const CALLBACK_RETENTION: RecordRetention = {
  real: { days: 90, mayShorten: false },
  test: RECORD_RETENTION.test,
};
