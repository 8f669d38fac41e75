import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { OnEnd } from './run';

const root = join(__dirname, '..', '..');

/** The servers that KAFKA_BROKERS and MONGODB_URI name, or new ones that end with this process. */
export async function startServers(onEnd: OnEnd): Promise<{ kafkaBrokers: string; mongodbUri: string }> {
  const { KAFKA_BROKERS: kafkaBrokers, MONGODB_URI: mongodbUri } = process.env;
  if (kafkaBrokers !== undefined && mongodbUri !== undefined) return { kafkaBrokers, mongodbUri };
  const holder = spawn(process.execPath, [join(root, 'scripts', 'test-servers.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  onEnd(async () => {
    holder.stdin.end();
    if (holder.exitCode === null) await once(holder, 'exit');
  });
  for await (const line of createInterface({ input: holder.stdout })) {
    const servers = JSON.parse(line) as { kafkaBrokers: string; mongodbUri: string } | { failure: string };
    if ('failure' in servers) throw new Error(servers.failure);
    return servers;
  }
  throw new Error('the servers did not start');
}
