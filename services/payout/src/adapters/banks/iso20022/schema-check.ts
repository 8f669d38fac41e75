import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The schemas, relative to the sources and to the build output. */
const SCHEMAS = join(__dirname, '../../../../schemas');

function schemaOf(message: string): [namespace: string, path: string] {
  return [`urn:iso:std:iso:20022:tech:xsd:${message}`, join(SCHEMAS, `${message}.xsd`)];
}

/** Path of the schema by namespace. */
export type Schemas = Readonly<Record<string, string>>;

export const PAIN_001: Schemas = Object.fromEntries([schemaOf('pain.001.001.09')]);
export const PAIN_002: Schemas = Object.fromEntries(
  ['pain.002.001.03', 'pain.002.001.12', 'pain.002.001.14', 'pain.002.001.15'].map(schemaOf),
);

export interface SchemaCheck {
  /**
   * Checks a document, given by its path or its bytes, against the schema of its namespace. Returns the problem, or
   * undefined if it is valid. Throws if the check does not end in time.
   */
  problemOf(xml: string | Uint8Array, schemas: Schemas): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** A file of 10,000 payouts takes about a second. */
const TIMEOUT_MS = 60_000;
/** Ending an idle worker frees the memory of its largest document. */
const IDLE_MS = 5_000;

/** The worker as source or as build output, like this file. */
const WORKER = join(__dirname, `schema-worker${extname(__filename) === '.ts' ? '.mts' : '.mjs'}`);

interface Answer {
  problem?: string;
}

/** Checks one document at a time, in order of arrival. */
export function createSchemaCheck(): SchemaCheck {
  let worker: Worker | undefined;
  let asking: PromiseWithResolvers<string | undefined> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(xml: string | Uint8Array, schemas: Schemas): Promise<string | undefined> {
    clearTimeout(idle);
    asking = Promise.withResolvers();
    const timer = setTimeout(() => void dismiss(`no schema validation within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
    try {
      worker ??= started();
      worker.postMessage({ xml, schemas });
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
    fresh.on('message', ({ problem }: Answer) => {
      if (worker === fresh) asking?.resolve(problem);
    });
    fresh.on('error', lost);
    fresh.on('exit', () => lost(new Error('the schema worker has ended')));
    return fresh;
  }

  /** Rejects waiting calls with the reason, and lets the next call start a new worker. */
  async function dismiss(why: string): Promise<void> {
    clearTimeout(idle);
    const leaving = worker;
    worker = undefined;
    asking?.reject(new Error(why));
    await leaving?.terminate();
  }

  return {
    problemOf(xml, schemas) {
      const answer = last.then(() => ask(xml, schemas));
      last = answer.catch(() => undefined);
      return answer;
    },
    stop: () => dismiss('the schema check is stopped'),
  };
}
