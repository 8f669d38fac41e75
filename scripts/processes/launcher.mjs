const POLL_INTERVAL_MS = 500;

/**
 * Calls `onGone` when npm, which started this process, has ended. npm passes a signal only to the shell between them,
 * which may end without passing it on; when killed, npm passes on nothing. Without npm there is nothing to watch: a
 * script started by hand may outlive its terminal.
 * @param {() => void} onGone
 */
export function watchLauncher(onGone) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const launcher = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    onGone();
  }, POLL_INTERVAL_MS);
  timer.unref();
}
