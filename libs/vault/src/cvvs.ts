import { Secret } from '@gateway/contracts';
import type { Collection } from '@gateway/mongo';
import { createGroupFind, retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { CvvKeyIssuer, CvvKeyStore } from './cvv-keys';
import { CVV_LIFETIME_MS } from './cvv-keys';

const SECOND_MS = 1_000;

/** `_id` is the reference of the operation that the CVV came with. */
export interface StoredCvv {
  _id: string;
  /** A key of the topic `cvv.keys`, which lives for less than half an hour. */
  keyId: string;
  data: Buffer;
  storedAt: Date;
}

/** Every call throws a RetryableError when the database is away. */
export interface CvvWriter {
  /** Throws a CvvKeyUnavailableError if no CVV can be stored now: ask before storing anything else of the request. */
  requireCvvKey(): Promise<void>;
  /**
   * Stores the CVV for one {@link CvvReader.takeCvv} within 20 minutes. A second one for a reference replaces the first.
   * Throws a CvvKeyUnavailableError, which no retry helps, when Kafka has taken no key for it.
   */
  putCvv(reference: string, cvv: Secret): Promise<void>;
  dropCvv(reference: string): Promise<void>;
}

export interface CvvReader {
  /**
   * Returns the CVV once and deletes it. Undefined if there is none, or if it or its key is too old. Waits up to
   * CVV_KEY_WAIT_MS for a key that this replica has not read yet.
   */
  takeCvv(reference: string): Promise<Secret | undefined>;
  dropCvv(reference: string): Promise<void>;
}

interface CvvOptions {
  cvvs: Collection<StoredCvv>;
  /** Epoch ms. */
  now: () => number;
}

export async function ensureCvvIndexes(cvvs: Collection<StoredCvv>): Promise<void> {
  await cvvs.createIndex({ storedAt: 1 }, { name: 'old', expireAfterSeconds: CVV_LIFETIME_MS / SECOND_MS });
}

export function createCvvWriter(options: CvvOptions & { keys: Pick<CvvKeyIssuer, 'current'> }): CvvWriter {
  const { cvvs, keys, now } = options;

  async function putCvv(reference: string, cvv: Secret): Promise<void> {
    const ring = await keys.current();
    const storedAt = new Date(now());
    const sealed = ring.encrypt(cvv.expose(), cvvAad(reference, storedAt));
    await cvvs.replaceOne({ _id: reference }, { ...sealed, storedAt }, { upsert: true });
  }

  return {
    async requireCvvKey() {
      await keys.current();
    },
    putCvv: (reference, cvv) => retryableWhenTransient(() => putCvv(reference, cvv)),
    dropCvv: dropFrom(cvvs),
  };
}

export function createCvvReader(options: CvvOptions & { keys: Pick<CvvKeyStore, 'find'>; logger?: Logger }): CvvReader {
  const { cvvs, keys, now, logger } = options;

  const findKeyId = createGroupFind(cvvs, { projection: { keyId: 1 } });

  async function takeCvv(reference: string): Promise<Secret | undefined> {
    const found = await findKeyId(reference);
    if (found === undefined) return undefined;
    // Wait first: whoever ends the operation meanwhile deletes the CVV, and then it is not used.
    const ring = await keys.find(found.keyId);
    const stored = await cvvs.findOneAndDelete({ _id: reference }, { promoteBuffers: true });
    if (stored === null) return undefined;
    // The TTL index may lag by minutes, so check the age here.
    if (now() - stored.storedAt.getTime() > CVV_LIFETIME_MS) return undefined;
    if (ring === undefined) {
      logger?.error('the key of a security code is not there', { reference, keyId: stored.keyId });
      return undefined;
    }
    return new Secret(ring.decrypt(stored, cvvAad(reference, stored.storedAt)).toString('utf8'));
  }

  return { takeCvv: (reference) => retryableWhenTransient(() => takeCvv(reference)), dropCvv: dropFrom(cvvs) };
}

function dropFrom(cvvs: Collection<StoredCvv>): (reference: string) => Promise<void> {
  return async (reference) => {
    await retryableWhenTransient(() => cvvs.deleteOne({ _id: reference }));
  };
}

/** Includes the time, so that editing a record cannot make a CVV younger. */
function cvvAad(reference: string, storedAt: Date): string {
  return `cvv\0${reference}\0${storedAt.getTime()}`;
}
