/** How long ended deliveries and attempts are kept, unless CALLBACK_RETENTION_DAYS says otherwise. */
export const RETENTION_DEFAULT_DAYS = 90;
