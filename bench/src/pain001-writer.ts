import { connectMongo } from '@gateway/mongo';
import { openConnector } from './pain001-connector';

/** The cost of one file. */
export interface CutFigures {
  payouts: number;
  seconds: number;
  /** Resident, before the cut and at its highest. */
  beforeMiB: number;
  peakMiB: number;
}

/** The measured process: writes the waiting payouts to a file and reports its time and memory. */
async function main(uri: string, database: string): Promise<void> {
  const mongo = await connectMongo({ uri, database });
  const connector = await openConnector(mongo, process.env);
  const beforeMiB = process.memoryUsage.rss() / 1024 / 1024;
  const began = performance.now();
  const [batch] = await connector.operations.cut();
  const seconds = (performance.now() - began) / 1_000;
  if (batch?.state !== 'emitted') throw new Error(`the batch is ${batch?.state ?? 'missing'}`);
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  process.send?.({ payouts: batch.payouts, seconds, beforeMiB, peakMiB } satisfies CutFigures);
  await connector.stop();
  await mongo.close();
}

const [uri = '', database = ''] = process.argv.slice(2);
void main(uri, database);
