import { setTimeout as pause } from 'node:timers/promises';
import type { Document } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Member } from '@gateway/testing';
import { until } from '@gateway/testing';

const ELECTION_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 300;
const STEP_DOWN_SECONDS = 10;

/** The member that takes writes at this moment; waits for an election. */
export async function primaryOf(members: readonly Member[]): Promise<Member> {
  let failure: unknown;
  const look = async (): Promise<Member | undefined> => {
    await pause(LOOK_EVERY_MS);
    // A member that is away is not the primary.
    const isPrimary = (member: Member) => takesWrites(member).catch((error: unknown) => void (failure = error));
    const answers = await Promise.all(members.map(isPrimary));
    return members.find((_member, index) => answers[index] === true);
  };
  return until('a primary', look, ELECTION_TIMEOUT_MS).catch((error: unknown) => {
    throw new Error(`no primary; the last failure: ${String(failure)}`, { cause: error });
  });
}

async function takesWrites(member: Member): Promise<boolean> {
  const { isWritablePrimary } = await command(member, { hello: 1 });
  return isWritablePrimary === true;
}

/** The election that follows is between the others. */
export async function stepDown(member: Member): Promise<void> {
  await command(member, { replSetStepDown: STEP_DOWN_SECONDS, force: true });
}

async function command({ port }: Member, order: Document): Promise<Document> {
  const uri = `mongodb://127.0.0.1:${port}/?directConnection=true`;
  const { mongoose, close } = await connectMongo({ uri, database: 'admin' });
  try {
    return (await mongoose.db?.admin().command(order)) ?? {};
  } finally {
    await close();
  }
}
