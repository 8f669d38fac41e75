/** kafkajs declares no types for its inner modules. Only what `quiet-request-queue.ts` corrects. */
declare module 'kafkajs/src/network/requestQueue' {
  const RequestQueue: {
    prototype: { pending: readonly unknown[]; scheduleCheckPendingRequests(): void };
  };
  export default RequestQueue;
}
