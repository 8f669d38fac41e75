import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Where the schemas lie, seen from the sources and from what is built of them. */
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
   * What is wrong with a document (its path, or its bytes): undefined when it is valid by the schema of its namespace.
   * Throws when that could not be found out in time.
   */
  problemOf(xml: string | Uint8Array, schemas: Schemas): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** A file of 10,000 payouts takes about a second. */
const TIMEOUT_MS = 60_000;
/** An idle worker is let go, and with it the memory that its largest document took. */
const IDLE_MS = 5_000;

/** The worker's source, as this file is one, or what was built of it. */
const WORKER = join(__dirname, `schema-worker${extname(__filename) === '.ts' ? '.mts' : '.mjs'}`);

interface Answer {
  id: number;
  problem?: string;
}

interface Waiting {
  resolve: (problem: string | undefined) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

export function createSchemaCheck(): SchemaCheck {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  const waiting = new Map<number, Waiting>();

  function settle(id: number, finish: (one: Waiting) => void): void {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    clearTimeout(one.timer);
    finish(one);
    if (waiting.size === 0) idle = setTimeout(() => void dismiss(), IDLE_MS).unref();
  }

  function started(): Worker {
    if (worker !== undefined) return worker;
    const fresh = new Worker(WORKER);
    fresh.unref();
    fresh.on('message', ({ id, problem }: Answer) => settle(id, ({ resolve }) => resolve(problem)));
    const lost = (error: Error): void => {
      if (worker === fresh) worker = undefined;
      for (const id of waiting.keys()) settle(id, ({ reject }) => reject(error));
    };
    fresh.on('error', lost);
    fresh.on('exit', () => {
      if (worker === fresh) lost(new Error('the schema worker has ended'));
    });
    worker = fresh;
    return fresh;
  }

  /** Whoever still waits is told so by the worker's end. */
  async function dismiss(): Promise<void> {
    clearTimeout(idle);
    await worker?.terminate();
  }

  return {
    problemOf: (xml, schemas) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        const id = (lastId += 1);
        const timer = setTimeout(() => {
          settle(id, (one) => one.reject(new Error(`no schema validation within ${TIMEOUT_MS} ms`)));
          void dismiss();
        }, TIMEOUT_MS);
        waiting.set(id, { resolve, reject, timer });
        started().postMessage({ id, xml, schemas });
      }),
    stop: dismiss,
  };
}
