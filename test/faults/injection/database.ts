import { setTimeout as pause } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Member } from '@gateway/testing';
import { until } from '@gateway/testing';

/** A busy machine takes seconds for a first connection. */
const COMMAND_TIMEOUT_MS = 10_000;
const ELECTION_TIMEOUT_MS = 120_000;
const LOOK_EVERY_MS = 300;
const STEP_DOWN_SECONDS = 10;

/** The member that takes writes at this moment; waits for an election. */
export function primaryOf(members: readonly Member[]): Promise<Member> {
  return until(
    'a primary',
    async () => {
      await pause(LOOK_EVERY_MS);
      const answers = await Promise.all(members.map(isPrimary));
      return members.find((_member, index) => answers[index]);
    },
    ELECTION_TIMEOUT_MS,
  );
}

async function isPrimary(member: Member): Promise<boolean> {
  const { isWritablePrimary } = await command(member, { hello: 1 });
  return isWritablePrimary === true;
}

/** The election that follows is between the others. */
export async function stepDown(member: Member): Promise<void> {
  await command(member, { replSetStepDown: STEP_DOWN_SECONDS, force: true });
}

/** An empty answer where the member does not give one. */
async function command({ port }: Member, order: mongo.Document): Promise<mongo.Document> {
  const client = new mongo.MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: COMMAND_TIMEOUT_MS,
    socketTimeoutMS: COMMAND_TIMEOUT_MS,
  });
  try {
    return await client.db('admin').command(order);
  } catch {
    return {};
  } finally {
    await client.close();
  }
}
