import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Answer = Parameters<LookupFunction>[2];

/**
 * Looks names up as the system does, but each name only once at a time. The system's resolver has two threads, and one
 * look-up takes ten seconds if no name server answers, longer than any connection waits. If every new connection looked
 * the name of a dead server up, they would take both threads, and no connection to the others could be opened.
 */
export const sharedLookup: LookupFunction = createSharedLookup(lookup);

export function createSharedLookup(system: LookupFunction): LookupFunction {
  const waiting = new Map<string, Answer[]>();
  return (hostname, options, answer) => {
    const { family, hints, all, order } = options;
    const question = JSON.stringify([hostname, family, hints, all, order]);
    const others = waiting.get(question);
    if (others !== undefined) return void others.push(answer);
    const askers = [answer];
    waiting.set(question, askers);
    system(hostname, options, (...found) => {
      waiting.delete(question);
      for (const each of askers) each(...found);
    });
  };
}
