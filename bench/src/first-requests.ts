import { cardUseCases, tokenize } from './card-use-cases';
import { senderTo } from './compare';
import { startGateway } from './gateway';
import type { Send, UseCase } from './load';
import { openClients } from './load';
import { restart } from './restart';
import type { OnEnd } from './run';

const ROUNDS = 3;
/** Of one client, one after the other. */
const REQUESTS = 500;
/** Between the first requests and the later ones that they are compared with. */
const LATER_AFTER_MS = 20_000;
/** The services that a SALE passes through, in the order in which they start again. */
const RESTARTED = ['simulator', 'card-processing', 'api-edge'];

/** Mean milliseconds of a SALE. */
interface Round {
  first: number;
  next9: number;
  first500: number;
  later500: number;
}

/**
 * `npm run bench -- first-requests`: the first SALEs of one client after a restart of the services that it passes
 * through, against SALEs 20 s of load later. Kafka, MongoDB and the client are warm. Prints one ratio, the median of the
 * rounds.
 */
export async function runFirstRequests(onEnd: OnEnd): Promise<void> {
  const { baseUrl } = await startGateway(onEnd);
  const token = await tokenize(senderTo(baseUrl));
  const [useCase] = cardUseCases(token);
  if (useCase === undefined) throw new Error('no use case');
  await load(baseUrl, useCase, LATER_AFTER_MS);
  const rounds: Round[] = [];
  console.log('\nmean ms of |     first   next 9   first 500   later 500   ratio');
  for (let round = 1; round <= ROUNDS; round += 1) {
    const means = await measureRound(baseUrl, useCase);
    rounds.push(means);
    print(String(round), means);
  }
  print('median', {
    first: median(rounds.map(({ first }) => first)),
    next9: median(rounds.map(({ next9 }) => next9)),
    first500: median(rounds.map(({ first500 }) => first500)),
    later500: median(rounds.map(({ later500 }) => later500)),
  });
  console.log(
    `\nfirst ${REQUESTS} requests against later ones: ${median(rounds.map(ratioOf)).toFixed(2)} times as long`,
  );
}

async function measureRound(baseUrl: string, useCase: UseCase): Promise<Round> {
  for (const name of RESTARTED) await restart(name);
  const first = await durations(baseUrl, useCase);
  await load(baseUrl, useCase, LATER_AFTER_MS);
  const later = await durations(baseUrl, useCase);
  return {
    first: mean(first.slice(0, 1)),
    next9: mean(first.slice(1, 10)),
    first500: mean(first),
    later500: mean(later),
  };
}

async function durations(baseUrl: string, useCase: UseCase): Promise<number[]> {
  const { send, close } = openClients(baseUrl, 1);
  const all: number[] = [];
  while (all.length < REQUESTS) all.push(await durationOf(useCase, send));
  await close();
  return all;
}

async function durationOf(useCase: UseCase, send: Send): Promise<number> {
  const begun = performance.now();
  await useCase.round(send);
  return performance.now() - begun;
}

/** The same client goes on, uncounted. */
async function load(baseUrl: string, useCase: UseCase, forMs: number): Promise<void> {
  const { send, close } = openClients(baseUrl, 1);
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt) await useCase.round(send);
  await close();
}

function mean(all: readonly number[]): number {
  return all.reduce((total, one) => total + one, 0) / all.length;
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
}

function ratioOf({ first500, later500 }: Round): number {
  return first500 / later500;
}

function print(name: string, round: Round): void {
  const { first, next9, first500, later500 } = round;
  const figures = [pad(first, 9), pad(next9, 8), pad(first500, 11), pad(later500, 11), pad(ratioOf(round), 7, 2)];
  console.log(`${name.padEnd(10)} | ${figures.join(' ')}`);
}

function pad(value: number, width: number, decimals = 1): string {
  return value.toFixed(decimals).padStart(width);
}
