/** How long ended deliveries and attempts are kept: 90 days. */
export const RETENTION_SECONDS = 90 * 86_400;
