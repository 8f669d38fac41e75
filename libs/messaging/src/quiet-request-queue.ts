import RequestQueue from 'kafkajs/src/network/requestQueue';

let quiet = false;

/**
 * Each connection of kafkajs 2.2.4 checks for postponed requests after every response, and then each millisecond for
 * ever, even if there are none (tulios/kafkajs#1751). Four idle connections cost 3,500 timers and 5 % of a core. A
 * postponed request schedules the check itself, so the others are not needed.
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
