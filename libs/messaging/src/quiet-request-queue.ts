import RequestQueue from 'kafkajs/src/network/requestQueue';

let quiet = false;

/**
 * kafkajs 2.2.4 has each connection look for postponed requests after every response, and again a millisecond later,
 * for ever, also when there are none (tulios/kafkajs#1751). Measured with four idle connections: 3,500 timers and 5 % of
 * a core for nothing. A request that is postponed schedules the look itself, so without any there is nothing to do.
 */
export function quietRequestQueues(): void {
  const { prototype } = RequestQueue;
  if (quiet || typeof prototype.scheduleCheckPendingRequests !== 'function') return;
  quiet = true;

  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this);
  };
}
