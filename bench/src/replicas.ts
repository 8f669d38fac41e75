import { cpus } from 'node:os';
import { cardUseCases, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import type { Replica } from './gateway';
import { startGateway, startReplica } from './gateway';
import { measure } from './load';
import type { OnEnd } from './run';
import { flags } from './run';

const REPLICAS = [1, 2, 4];
const ACQUIRER_LATENCY_MS = 100;
/** One merchant's concurrent calls per replica. With more, one replica could saturate a small machine. */
const CALLS_PER_REPLICA = 32;
/** As many as one replica calls for and lets wait; it refuses more. */
const CLIENTS = 2 * CALLS_PER_REPLICA;
const FIRST_OPS_PORT = 19_110;
const FULL = { firstWarmUpMs: 20_000, warmUpMs: 5_000, measureMs: 15_000 };
const QUICK = { firstWarmUpMs: 3_000, warmUpMs: 1_000, measureMs: 4_000 };

/**
 * `npm run bench -- replicas [--quick]`: SALEs per second with 1, 2 and 4 replicas of card-processing, and an acquirer
 * that takes 100 ms for each. A replica can then have 320 SALEs a second at most.
 */
export async function runReplicas(onEnd: OnEnd, args: readonly string[]): Promise<void> {
  const pace = flags(args, ['quick']).has('quick') ? QUICK : FULL;
  const settings = {
    SIMULATOR_LATENCY_MS: String(ACQUIRER_LATENCY_MS),
    // One merchant gets half of them.
    ACQUIRER_CALLS_AT_ONCE: String(2 * CALLS_PER_REPLICA),
  };
  const { baseUrl } = await startGateway(onEnd, settings);
  const [useCase] = cardUseCases(await tokenize(senderTo(baseUrl)));
  if (useCase === undefined) throw new Error('no use case');
  const load = { baseUrl, useCase, clients: CLIENTS };
  await measure({ ...load, warmUpMs: 0, measureMs: pace.firstWarmUpMs });
  console.log(`\nSALEs of ${CLIENTS} clients, the acquirer takes ${ACQUIRER_LATENCY_MS} ms`);
  console.log('replicas |       /s    p50 ms    p99 ms   CPU of this machine');
  let running = 1;
  for (const replicas of REPLICAS) {
    for (; running < replicas; running += 1) await startReplica(replica(running, settings), onEnd);
    const cpu = cpuMeter();
    const { perSecond, p50Ms, p99Ms } = await measure({ ...load, ...pace });
    const figures = [perSecond.toFixed(0).padStart(8), p50Ms.toFixed(1).padStart(9), p99Ms.toFixed(1).padStart(9)];
    console.log(`${String(replicas).padStart(8)} | ${figures.join(' ')}   ${(100 * cpu()).toFixed(0).padStart(3)} %`);
  }
}

function replica(index: number, settings: Record<string, string>): Replica {
  const log = `bench-card-processing-${index}.log`;
  return { service: 'card-processing', opsPort: FIRST_OPS_PORT + index, settings, log };
}

/** Returns a function that gives the share of busy cores since this call. */
function cpuMeter(): () => number {
  const read = () =>
    cpus().reduce(
      ({ busy, all }, { times }) => {
        const total = times.user + times.nice + times.sys + times.irq + times.idle;
        return { busy: busy + total - times.idle, all: all + total };
      },
      { busy: 0, all: 0 },
    );
  const before = read();
  return () => {
    const after = read();
    return (after.busy - before.busy) / (after.all - before.all);
  };
}
