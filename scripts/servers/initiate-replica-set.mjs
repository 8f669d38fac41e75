/**
 * Makes the servers at MONGODB_URI members of the replica set in the URI, and waits for a primary and its secondaries.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withAdmin } from './mongodb-driver.mjs';

const NOT_YET_INITIALIZED = 94;
const POLL_INTERVAL_MS = 100;
const [PRIMARY, SECONDARY] = [1, 2];

/** @typedef {{ command(command: object): Promise<any> }} Admin */

const [, hosts = '', name = ''] = /^mongodb:\/\/([^/]+)\/\?replicaSet=(\w+)$/.exec(process.env.MONGODB_URI ?? '') ?? [];
const members = hosts.split(',').map((host, _id) => ({ _id, host }));

await withAdmin(`mongodb://${members[0]?.host}/`, { directConnection: true }, async (admin) => {
  const current = await currentConfiguration(admin);
  if (current === undefined) {
    await admin.command({ replSetInitiate: { _id: name, members } });
  } else if (hostsOf(current) !== hosts) {
    // Its data are from a start on other ports; with those addresses it would wait for itself forever.
    await admin.command({ replSetReconfig: { ...current, members, version: current.version + 1 }, force: true });
  }
  while (!(await isComplete(admin))) await delay(POLL_INTERVAL_MS);
});

/** @param {Admin} admin */
async function currentConfiguration(admin) {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config;
  } catch (error) {
    if (/** @type {{ code?: number }} */ (error).code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}

/** @param {{ members: { host: string }[] }} configuration */
function hostsOf(configuration) {
  return configuration.members.map(({ host }) => host).join(',');
}

/** @param {Admin} admin */
async function isComplete(admin) {
  const { myState, members } = await admin.command({ replSetGetStatus: 1 });
  /** @type {number[]} */
  const states = members.map((/** @type {{ state: number }} */ { state }) => state);
  if (states.includes(PRIMARY)) return states.every((state) => state === PRIMARY || state === SECONDARY);
  if (myState === SECONDARY) await standForElection(admin);
  return false;
}

/**
 * Starts an election. Otherwise members that start together wait ten seconds for a primary.
 * @param {Admin} admin
 */
async function standForElection(admin) {
  try {
    await admin.command({ replSetStepUp: 1 });
  } catch {
    // Others are not up yet, or have newer data: the set elects one of them.
  }
}
