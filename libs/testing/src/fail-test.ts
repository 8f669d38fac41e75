/**
 * For `onFatal`: fails the test that is running. Thrown where it is told, it would be taken for a failure of whatever the
 * service was doing.
 */
export function failTest(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
