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
import type { Release } from './world/release';
import type { ServiceName, World } from './world/world';
import { openWorld } from './world/world';

/** The parts of a run that fault injection needs. */
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
  /** Default: this checkout. */
  release?: Release;
  /** All unless given. */
  services?: readonly ServiceName[];
  /** Runs while the merchants work. They stop when it resolves. */
  during(scene: Scene): Promise<void>;
  /** Longest wait until no work is open. */
  patienceMs: number;
  log(line: string): void;
}

/** One run: starts the world, lets merchants work under faults, waits for quiet, and collects the evidence. */
export async function run(options: Run): Promise<RunResult> {
  const { ground, log } = options;
  await build();
  const began = Date.now();
  const random = createRandom(options.seed);
  const notebook = openNotebook();
  const owners = newOwners(options.merchants);
  const receivers = await startReceivers(owners, notebook);
  const space = await ground.openSpace();
  const { settings, release, services } = options;
  const world = await openWorld({ space, random, ca: receivers.ca, settings, release, services });
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

/** Saves the evidence beside the logs, until the next run, to investigate failed checks. */
function keepEvidence({ documents, logs: _logs, ...rest }: Evidence, directory: string): void {
  const whole = { ...rest, documents: Object.fromEntries(documents) };
  writeFileSync(join(directory, 'evidence.json'), JSON.stringify(whole));
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
