import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Content, Shape } from './xml-content';

/** The schemas, relative to the sources and to the build output. */
const SCHEMAS = join(__dirname, '../../../../schemas');

export const namespaceOf = (message: string): string => `urn:iso:std:iso:20022:tech:xsd:${message}`;

/** @param written the message whose schema is used: its own, or a neighbouring version's with the same elements */
export function schemaOf(message: string, written: string = message): [namespace: string, schema: Schema] {
  return [namespaceOf(message), { path: join(SCHEMAS, `${written}.xsd`), writtenFor: namespaceOf(written) }];
}

/** A schema, and the namespace in its file. */
export interface Schema {
  readonly path: string;
  readonly writtenFor: string;
}

/** By namespace. */
export type Schemas = Readonly<Record<string, Schema>>;

export const PAIN_001: Schemas = Object.fromEntries([schemaOf('pain.001.001.09')]);

/** What is taken from outside, by namespace: what is read of each message, and how it is checked, if we have a schema. */
export type Messages = Readonly<Record<string, Partial<Schema> & { shape: Shape }>>;

export interface SchemaCheck {
  /**
   * Checks a document, given by its path or its bytes, against the schema of its namespace. Returns the problem, or
   * undefined if it is valid. Throws if the check does not end in time.
   */
  problemOf(xml: string | Uint8Array, schemas: Schemas): Promise<string | undefined>;
  /** Checks a document likewise, and reads from the same tree what its shape names. A document that takes too long is bad. */
  read(xml: Uint8Array, messages: Messages): Promise<{ problem: string } | { content: Content }>;
  stop(): Promise<void>;
}

/** A file of 10,000 payouts takes about a second. */
const TIMEOUT_MS = 60_000;
/** Below the lease of whoever reads reports: another replica would begin with the same report, and so on without end. */
const READ_TIMEOUT_MS = 20_000;
/** Ending an idle worker frees the memory of its largest document. */
const IDLE_MS = 5_000;

/** The worker as source or as build output, like this file. */
const WORKER = join(__dirname, `schema-worker${extname(__filename) === '.ts' ? '.mts' : '.mjs'}`);

type Task = { xml: string | Uint8Array; schemas: Schemas } | { xml: Uint8Array; messages: Messages };

interface Answer {
  problem?: string;
  content?: Content;
}

/** Checks one document at a time, in order of arrival. */
export function createSchemaCheck(readTimeoutMs = READ_TIMEOUT_MS): SchemaCheck {
  let worker: Worker | undefined;
  let asking: PromiseWithResolvers<Answer> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(task: Task): Promise<Answer> {
    clearTimeout(idle);
    asking = Promise.withResolvers();
    const timer = setTimeout(() => tooLate(task), 'schemas' in task ? TIMEOUT_MS : readTimeoutMs);
    try {
      worker ??= started();
      worker.postMessage(task);
      return await asking.promise;
    } finally {
      clearTimeout(timer);
      idle = setTimeout(() => void dismiss('nobody asks'), IDLE_MS).unref();
    }
  }

  function started(): Worker {
    const fresh = new Worker(WORKER);
    fresh.unref();
    const lost = (error: Error): void => {
      if (worker !== fresh) return;
      worker = undefined;
      asking?.reject(error);
    };
    fresh.on('message', (answer: Answer) => {
      if (worker === fresh) asking?.resolve(answer);
    });
    fresh.on('error', lost);
    fresh.on('exit', () => lost(new Error('the schema worker has ended')));
    return fresh;
  }

  /** A document of ours is written again later. One from outside is the reason: errors take time, and it may have many. */
  function tooLate(task: Task): void {
    if ('messages' in task) asking?.resolve({ problem: `not read within ${readTimeoutMs} ms` });
    void dismiss(`no schema validation within ${TIMEOUT_MS} ms`);
  }

  /** Rejects waiting calls with the reason, and lets the next call start a new worker. */
  async function dismiss(why: string): Promise<void> {
    clearTimeout(idle);
    const leaving = worker;
    worker = undefined;
    asking?.reject(new Error(why));
    await leaving?.terminate();
  }

  function inTurn(task: Task): Promise<Answer> {
    const answer = last.then(() => ask(task));
    last = answer.catch(() => undefined);
    return answer;
  }

  return {
    problemOf: async (xml, schemas) => (await inTurn({ xml, schemas })).problem,
    async read(xml, messages) {
      const { problem, content } = await inTurn({ xml, messages });
      return content === undefined ? { problem: problem ?? 'nothing was read' } : { content };
    },
    stop: () => dismiss('the schema check is stopped'),
  };
}
