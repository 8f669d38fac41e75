/**
 * For `onFatal`: fails the running test. It throws later, because the service might catch an error that is thrown at
 * once.
 */
export function failTest(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
