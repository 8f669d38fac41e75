import { createRequire } from 'node:module';

/** The driver of libs/mongo, resolved from there, wherever npm has installed it. */
const { mongo } = createRequire(new URL('../../libs/mongo/package.json', import.meta.url))('mongoose');

const SERVER_SELECTION_TIMEOUT_MS = 15_000;

/**
 * @template T
 * @param {string} uri
 * @param {object} options of the driver
 * @param {(admin: { command(command: object): Promise<any> }) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withAdmin(uri, options, work) {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS, ...options });
  try {
    await client.connect();
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}
