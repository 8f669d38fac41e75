/** Paths in this checkout. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Everything that a running system writes, ignored by git. */
export const stateDirectory = join(root, '.gateway');

export const logDirectory = join(stateDirectory, 'logs');

/** Environment of the running services and command lines; contains secrets. */
export const environmentFile = join(stateDirectory, 'environment.json');

/** The Node that package-lock.json names: services and tests run on it, whatever the system's Node is. */
export const projectNode = join(root, 'node_modules', '.bin', 'node');

/** Distinguishes the containers, volumes and temporary directories of two checkouts. */
export const checkoutId = createHash('sha256').update(root).digest('hex').slice(0, 8);
