import type { Retention } from '@gateway/service-kit';

/** How long ended deliveries and attempts are kept, unless CALLBACK_RETENTION_DAYS says otherwise. */
export const CALLBACK_RETENTION: Retention = { days: 90, mayShorten: false };
