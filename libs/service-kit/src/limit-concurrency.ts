import type { ServerResponse } from 'node:http';

/**
 * Bounds the requests that are handled at once. The function that it returns is false beyond `max`, and for a request
 * whose client has left. Otherwise the request counts until its answer has left or its connection has ended.
 */
export function limitConcurrency(max: number): (response: ServerResponse) => boolean {
  let concurrent = 0;
  return (response) => {
    // Its `close` has passed, so it would count forever.
    if (response.closed || concurrent >= max) return false;
    concurrent += 1;
    response.once('close', () => (concurrent -= 1));
    return true;
  };
}
