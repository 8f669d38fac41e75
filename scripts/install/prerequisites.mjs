import { Failure } from '../failure.mjs';

const OLDEST_NODE = 18;

/** Throws unless this script runs on a Node that it knows. */
export function requireNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) {
    throw new Failure(`Node ${OLDEST_NODE} or later is needed and this is ${process.version}: install a current one.`);
  }
}
