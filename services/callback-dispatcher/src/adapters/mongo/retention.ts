/** How long deliveries that ended, and attempts, are kept: 90 days. */
export const RETENTION_SECONDS = 90 * 86_400;
