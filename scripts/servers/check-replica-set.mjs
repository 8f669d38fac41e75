/** Fails, with one sentence, unless MONGODB_URI leads to the primary of a replica set. */
import { withAdmin } from './mongodb-driver.mjs';

try {
  const { setName } = await withAdmin(process.env.MONGODB_URI ?? '', {}, (admin) => admin.command({ hello: 1 }));
  if (setName === undefined) throw new Error('it is no replica set, and without one there are no transactions');
} catch (error) {
  console.error(`The MongoDB of MONGODB_URI cannot be used: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
