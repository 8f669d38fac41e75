import type { BrokerAddress, BrokerLink, ClusterMetadata, CoordinatorAnswer, OpenLink } from './broker-link';
import { LinkError } from './broker-link';
import { errorName } from './produce-failures';

/** Asks whichever broker answers first, so that a frozen one costs a moment and not a time-out. */
export interface AnyBroker {
  /**
   * What one broker says about the topics. It also tells which brokers there are to be asked next time.
   *
   * @throws LinkError when none of them answers.
   */
  metadata(topics: readonly string[]): Promise<ClusterMetadata>;
  /**
   * Who coordinates a group.
   *
   * @throws LinkError when none of them answers, or knows it.
   */
  coordinator(groupId: string): Promise<CoordinatorAnswer['coordinator']>;
  close(): void;
}

/** Without an answer for this long, the next broker is asked as well. */
const NEXT_AFTER_MS = 300;
/** A loaded broker takes seconds. */
const ANSWER_TIMEOUT_MS = 3_000;

interface Contact {
  readonly address: BrokerAddress;
  link: BrokerLink | undefined;
  asking: boolean;
  failedAtMs: number;
}

/** `seeds` serve until the first answer, and again when no broker that it named can be reached. */
export function createAnyBroker(options: { openLink: OpenLink; seeds: readonly BrokerAddress[] }): AnyBroker {
  const { openLink } = options;
  let contacts = new Map<string, Contact>();
  let turn = 0;
  let closed = false;
  learn([]);

  function learn(brokers: readonly BrokerAddress[]): void {
    const before = contacts;
    contacts = new Map();
    for (const { host, port } of [...brokers, ...options.seeds]) {
      const name = `${host}:${port}`;
      const known = before.get(name);
      contacts.set(name, known ?? { address: { host, port }, link: undefined, asking: false, failedAtMs: 0 });
    }
    for (const [name, { link }] of before) if (!contacts.has(name)) link?.close();
  }

  /** Each time another one first: a broker that was cut off may still believe what was true before. */
  function inTurn(): Contact[] {
    const all = [...contacts.values()];
    turn = (turn + 1) % all.length;
    const rotated = [...all.slice(turn), ...all.slice(0, turn)];
    return rotated.sort((a, b) => Number(a.asking) - Number(b.asking) || a.failedAtMs - b.failedAtMs);
  }

  async function ask<T>(contact: Contact, question: (link: BrokerLink) => Promise<T>): Promise<T> {
    if (closed) throw new LinkError('nobody is to be asked any more');
    if (contact.link?.usable() !== true) contact.link = openLink(contact.address);
    contact.asking = true;
    try {
      const answer = await question(contact.link);
      contact.failedAtMs = 0;
      return answer;
    } catch (error) {
      contact.failedAtMs = Date.now();
      throw error;
    } finally {
      contact.asking = false;
    }
  }

  const anyOf = <T>(question: (link: BrokerLink) => Promise<T>): Promise<T> =>
    firstOf(inTurn(), (contact) => ask(contact, question));

  return {
    async metadata(topics) {
      const answer = await anyOf(async (link) => {
        const metadata = await link.metadata(topics, ANSWER_TIMEOUT_MS);
        if (metadata.brokers.length === 0) throw new LinkError('the broker knows of no brokers');
        return metadata;
      });
      learn(answer.brokers);
      return answer;
    },
    coordinator: (groupId) =>
      anyOf(async (link) => {
        const { errorCode, coordinator } = await link.coordinator(groupId, ANSWER_TIMEOUT_MS);
        if (errorCode !== 0) throw new LinkError(`no coordinator for ${groupId}: ${errorName(errorCode)}`);
        return coordinator;
      }),
    close() {
      closed = true;
      for (const { link } of contacts.values()) link?.close();
    },
  };
}

/** The first answer; the next one is asked when the last one failed or is slow. Rejects when all have failed. */
function firstOf<C, T>(candidates: readonly C[], ask: (candidate: C) => Promise<T>): Promise<T> {
  let next = 0;
  let unanswered = 0;
  let timer: NodeJS.Timeout | undefined;
  return new Promise<T>((resolve, reject) => {
    const askNext = (): void => {
      clearTimeout(timer);
      const candidate = candidates[next];
      if (candidate === undefined) return;
      next += 1;
      unanswered += 1;
      timer = setTimeout(askNext, NEXT_AFTER_MS);
      ask(candidate).then(resolve, (error: Error) => {
        unanswered -= 1;
        if (next < candidates.length) askNext();
        else if (unanswered === 0) reject(error);
      });
    };
    askNext();
  }).finally(() => clearTimeout(timer));
}
