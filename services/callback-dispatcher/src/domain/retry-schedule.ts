/** decisions.md, section 6: seconds after each failed attempt; 12 retries in about 74 hours. */
export const DEFAULT_RETRY_SCHEDULE = '1,3,9,27,81,243,729,2187,6561,19683,59049,177147';

/** At most 50 retries, each after at most 9999999 seconds. */
export const RETRY_SCHEDULE_PATTERN = '^\\d{1,7}(,\\d{1,7}){0,49}$';

export function retrySchedule(text: string): number[] {
  return text.split(',').map(Number);
}
