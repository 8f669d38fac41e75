import { GROUP_REFUSED, KafkaAccessError } from './access';
import type { BrokerAddress, BrokerLink, ClusterMetadata, CoordinatorAnswer, OpenLink } from './broker-link';
import { LinkError } from './broker-link';
import { errorName } from './produce-failures';
import type { ScramAnswer, ScramUser } from './scram-request';

/** Sends a request to several brokers and takes the first answer, so a frozen broker costs 300 ms and not a time-out. */
export interface AnyBroker {
  /**
   * The topics' metadata. The brokers listed in it get the next requests.
   *
   * @throws LinkError if no broker answers; KafkaAccessError if none lets this process in.
   */
  metadata(topics: readonly string[]): Promise<ClusterMetadata>;
  /**
   * The coordinator of a group.
   *
   * @throws LinkError if no broker answers or knows the coordinator; KafkaAccessError if Kafka refuses the group.
   */
  coordinator(groupId: string): Promise<CoordinatorAnswer['coordinator']>;
  /** Stores users; any broker hands them on. @throws LinkError if no broker answers */
  alterScramUsers(users: readonly ScramUser[]): Promise<ScramAnswer[]>;
  close(): void;
}

/** Asks the next broker too if the last one has not answered within this time. */
const NEXT_AFTER_MS = 300;
/** A loaded broker takes seconds. */
const ANSWER_TIMEOUT_MS = 3_000;
/** The controller stores users on a majority. */
const ALTER_TIMEOUT_MS = 10_000;

interface Contact {
  readonly address: BrokerAddress;
  link: BrokerLink | undefined;
  asking: boolean;
  failedAtMs: number;
}

/** Uses `seeds` until the first answer, and again when no known broker can be reached. */
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

  /** Starts with a different broker each time, because a broker that was cut off may have outdated metadata. */
  function inTurn(): Contact[] {
    const all = [...contacts.values()];
    turn = (turn + 1) % all.length;
    const rotated = [...all.slice(turn), ...all.slice(0, turn)];
    return rotated.sort((a, b) => Number(a.asking) - Number(b.asking) || a.failedAtMs - b.failedAtMs);
  }

  async function ask<T>(contact: Contact, question: (link: BrokerLink) => Promise<T>): Promise<T> {
    if (closed) throw new LinkError('the client is closed');
    if (contact.link?.usable() !== true) contact.link = openLink(contact.address);
    contact.asking = true;
    try {
      const answer = await question(contact.link);
      contact.failedAtMs = 0;
      return answer;
    } catch (error) {
      contact.failedAtMs = performance.now();
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
        if (metadata.brokers.length === 0) throw new LinkError('the broker lists no brokers');
        return metadata;
      });
      learn(answer.brokers);
      return answer;
    },
    coordinator: (groupId) =>
      anyOf(async (link) => {
        const { errorCode, coordinator } = await link.coordinator(groupId, ANSWER_TIMEOUT_MS);
        if (errorCode === GROUP_REFUSED)
          throw new KafkaAccessError(`Kafka refuses access to the consumer group ${groupId}`);
        if (errorCode !== 0) throw new LinkError(`no coordinator for ${groupId}: ${errorName(errorCode)}`);
        return coordinator;
      }),
    alterScramUsers: (users) => anyOf((link) => link.alterScramUsers(users, ALTER_TIMEOUT_MS)),
    close() {
      closed = true;
      for (const { link } of contacts.values()) link?.close();
    },
  };
}

/** Resolves with the first answer. Asks the next candidate when the last one fails or is slow. Rejects if all fail. */
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
