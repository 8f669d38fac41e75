import RequestQueue from 'kafkajs/src/network/requestQueue';

let quiet = false;

/** The shortest time-out of a request is 10 s. kafkajs would look for late ones ten times a second on each connection. */
const TIMEOUT_CHECK_MS = 1_000;

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

  prototype.scheduleRequestTimeoutCheck = function () {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    this.requestTimeoutIntervalId = setInterval(() => {
      for (const request of this.inflight.values()) {
        if (Date.now() - (request.sentAt ?? Infinity) > request.requestTimeout) request.timeoutRequest();
      }
      if (!this.isConnected()) this.destroy();
    }, TIMEOUT_CHECK_MS);
  };
}
