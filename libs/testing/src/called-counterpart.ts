import { faultsOfReading, startCounterpart } from './hostile-answers';
import type { Certificate } from './https-server';

/** A connector's calls, by the names of what they return. */
interface Client<Results> {
  readonly calls: { readonly [Name in keyof Results]: () => Promise<Results[Name]> };
  close(): void;
}

/** A counterpart on this machine, and the calls of a client of it. It starts with the first call. */
export interface CalledCounterpart<Results> {
  /** What the call of this name makes of an answer. */
  answering<Name extends keyof Results>(json: string, name: Name): Promise<Results[Name]>;
  /** What is wrong with how it reads the answer: see {@link faultsOfReading}. */
  faultsOfReading(json: unknown, name: keyof Results): Promise<object[]>;
  close(): Promise<void>;
}

/**
 * @param connect a client to the counterpart's address
 * @param certificate of a counterpart that is called over TLS
 */
export function openCalled<Results>(
  connect: (url: string) => Client<Results> | Promise<Client<Results>>,
  certificate?: Promise<Certificate>,
): CalledCounterpart<Results> {
  let starting: ReturnType<typeof start> | undefined;

  async function start() {
    const counterpart = await startCounterpart(await certificate);
    return { counterpart, client: await connect(counterpart.url) };
  }

  return {
    async answering(json, name) {
      const { counterpart, client } = await (starting ??= start());
      return counterpart.answering(json, client.calls[name]);
    },
    async faultsOfReading(json, name) {
      const { counterpart, client } = await (starting ??= start());
      return faultsOfReading(counterpart, json, client.calls[name]);
    },
    async close() {
      if (starting === undefined) return;
      const { counterpart, client } = await starting;
      client.close();
      await counterpart.close();
    },
  };
}
