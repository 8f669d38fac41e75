const POLL_INTERVAL_MS = 500;

/**
 * Calls `onGone` when npm, which has started this process, has ended. npm passes a signal on to the shell between them
 * only, which may end without a word to us; and killed, npm passes nothing on. Without npm there is nobody to watch:
 * a script that was started by hand may outlive its terminal.
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
