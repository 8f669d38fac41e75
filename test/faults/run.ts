import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../support/processes';
import type { Storage } from '../support/storage';
import { openStorage } from '../support/storage';
import { collectEvidence } from './collect';
import { createAccounts, newOwners, startCrowd } from './merchants/crowd';
import type { Business } from './merchants/merchant';
import { BUSINESS } from './merchants/merchant';
import type { Notebook } from './merchants/notebook';
import { openNotebook } from './merchants/notebook';
import type { Receivers } from './merchants/receivers';
import { startReceivers } from './merchants/receivers';
import type { Evidence } from './model/evidence';
import { untilQuiet } from './quiet';
import type { Random } from './random';
import { createRandom } from './random';
import type { Ground } from './world/ground';
import type { Preload } from './world/replica';
import type { ServiceName, World } from './world/world';
import { openWorld } from './world/world';

/** Everything that a run has: for whoever injects faults. */
export interface Scene {
  ground: Ground;
  world: World;
  receivers: Receivers;
  notebook: Notebook;
  random: Random;
}

export interface RunResult {
  evidence: Evidence;
  notebook: Notebook;
  deaths: readonly string[];
  startMs: number;
  quietMs: number;
}

export interface Run {
  ground: Ground;
  seed: number;
  merchants: number;
  thinkMs: number;
  business?: Business;
  settings?: Record<string, string>;
  preloads?: readonly Preload[];
  /** All unless given. */
  services?: readonly ServiceName[];
  /** What happens while the merchants work. They stop when it has ended. */
  during(scene: Scene): Promise<void>;
  /** How long to wait until nothing is open any more. */
  patienceMs: number;
  log(line: string): void;
}

/** One world from its start to its end: merchants at work, faults, quiet, evidence. */
export async function run(options: Run): Promise<RunResult> {
  const { ground, log } = options;
  await build();
  const began = Date.now();
  const random = createRandom(options.seed);
  const notebook = openNotebook();
  const owners = newOwners(options.merchants);
  const receivers = await startReceivers(owners, notebook);
  const space = await ground.openSpace();
  const { settings, preloads, services } = options;
  const world = await openWorld({ space, random, ca: receivers.ca, settings, preloads, services });
  const storage: Storage = await openStorage(space);
  try {
    const terminals = await createAccounts(world.accounts, owners);
    const startMs = Date.now() - began;
    log(`Gateway and ${owners.length} merchants ready after ${seconds(startMs)}`);
    const { thinkMs, business = BUSINESS } = options;
    const crowd = startCrowd({ world, owners, receivers, terminals, notebook, random, business, thinkMs });
    await options.during({ ground, world, receivers, notebook, random: random.fork('faults') });
    log('Merchants stop');
    await crowd.stop();
    const quietMs = await untilQuiet(world, storage, options.patienceMs);
    log(`Quiet after ${seconds(quietMs)}; last CHECKs`);
    await crowd.checkAll();
    const evidence = await collectEvidence(world, storage, notebook);
    keepEvidence(evidence, world.logDirectory);
    return { evidence, notebook, deaths: world.deaths, startMs, quietMs };
  } finally {
    await storage.close();
    await world.close();
    await receivers.close();
    if (ground.cluster === undefined) await space.remove();
  }
}

/** For whoever looks into what a check says: beside the logs, until the next run. */
function keepEvidence({ documents, logs: _logs, ...rest }: Evidence, directory: string): void {
  const whole = { ...rest, documents: Object.fromEntries(documents) };
  writeFileSync(join(directory, 'evidence.json'), JSON.stringify(whole));
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
