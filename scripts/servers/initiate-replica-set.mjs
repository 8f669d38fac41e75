/** Makes the server at MONGODB_URI the only member of the replica set that the URI names, and waits until it is primary. */
import { setTimeout as delay } from 'node:timers/promises';
import { withAdmin } from './mongodb-driver.mjs';

const NOT_YET_INITIALIZED = 94;
const POLL_INTERVAL_MS = 50;

const uri = new URL(process.env.MONGODB_URI ?? '');
const members = [{ _id: 0, host: uri.host }];
const name = uri.searchParams.get('replicaSet');

await withAdmin(`mongodb://${uri.host}/`, { directConnection: true }, async (admin) => {
  const current = await currentConfiguration(admin);
  if (current === undefined) {
    await admin.command({ replSetInitiate: { _id: name, members } });
  } else if (current.members[0].host !== uri.host) {
    // Its data come from a start on another port; under that name it would wait for itself forever.
    await admin.command({ replSetReconfig: { ...current, members, version: current.version + 1 }, force: true });
  }
  while (!(await admin.command({ hello: 1 })).isWritablePrimary) await delay(POLL_INTERVAL_MS);
});

/** @param {{ command(command: object): Promise<any> }} admin */
async function currentConfiguration(admin) {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config;
  } catch (error) {
    if (/** @type {{ code?: number }} */ (error).code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}
