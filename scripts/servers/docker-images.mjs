import { KAFKA_IMAGE } from './kafka.mjs';
import { MONGODB_IMAGE } from './mongodb.mjs';

const ASK_TIMEOUT_MS = 10_000;
/** On a slower connection local servers start sooner: their downloads are a tenth of the images. */
const PULL_TIMEOUT_MS = 90_000;

const images = { kafka: KAFKA_IMAGE, mongodb: MONGODB_IMAGE };

/**
 * Whether a Docker daemon answers and has the servers' images, or can get them in time.
 * @param {import('./provide-servers.mjs').ServerName[]} wanted
 * @param {{ processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} context
 * @returns {Promise<boolean>}
 */
export async function dockerHasImages(wanted, { processes, progress }) {
  const docker = (/** @type {number} */ timeoutMs, /** @type {string[]} */ ...args) =>
    processes.ask('docker', args, timeoutMs);
  if ((await docker(ASK_TIMEOUT_MS, 'version', '--format', '{{.Server.Version}}')) === undefined) return false;
  const available = wanted.map(async (name) => {
    const image = images[name];
    if ((await docker(ASK_TIMEOUT_MS, 'image', 'inspect', image)) !== undefined) return true;
    progress.note(`Docker: pull ${image}, for at most ${PULL_TIMEOUT_MS / 1000} s …`);
    if ((await docker(PULL_TIMEOUT_MS, 'pull', '--quiet', image)) !== undefined) return true;
    progress.note(`Docker: ${image} cannot be had`);
    return false;
  });
  return (await Promise.all(available)).every(Boolean);
}
