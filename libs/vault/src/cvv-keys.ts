import { randomBytes } from 'node:crypto';
import type { CvvKeyIssuedData } from '@gateway/contracts';
import { Secret } from '@gateway/contracts';
import type { Logger, Repeating } from '@gateway/service-kit';
import { messageOf, repeat } from '@gateway/service-kit';
import { writerKey } from './card-token';
import type { Opener, Sealer } from './hpke';
import type { KeyRing } from './key-ring';
import { createKeyRing } from './key-ring';
import type { Keys } from './keys';
import { KEY_BYTES, keysOf } from './keys';

const MINUTE_MS = 60_000;
/** A replica of the edge encrypts CVVs with a key for this long, and forgets it then. */
const CVV_KEY_USE_MS = 5 * MINUTE_MS;
/** The next key is published this long before it is needed, and longer than a short outage. */
const RENEW_AFTER_MS = 4 * MINUTE_MS;
/** By then every replica of card-processing has read a key. A younger one is used only if there is no other. */
const READ_EVERYWHERE_AFTER_MS = 30_000;
/** architecture.md, invariant 6: a CVV is never older than 20 minutes. */
export const CVV_LIFETIME_MS = 20 * MINUTE_MS;
/** Older keys open nothing that may still be read. The topic deletes them soon after. */
const KEY_LIFETIME_MS = CVV_KEY_USE_MS + CVV_LIFETIME_MS;
const RENEWAL_CHECK_MS = 1_000;
/** A request that finds no key waits this long for the one that is being published. */
const NEW_KEY_WAIT_MS = 1_000;
const EXPIRY_CHECK_MS = 10_000;
const KEY_ID_BYTES = 16;
/** 300 replicas of the edge issue fewer. Beyond this the oldest go first. */
const KEYS_MAX = 4_096;
/** A key is published before it is used, but this replica may not have read it yet. The lease of a call allows for it. */
export const CVV_KEY_WAIT_MS = 3_000;

/** No CVV can be stored now: refuse the request. */
export class CvvKeyUnavailableError extends Error {
  constructor() {
    super('There is no key for security codes: the last one was not acknowledged by Kafka.');
  }
}

/** The edge's side: makes a key every few minutes, and publishes it encrypted for card-processing. */
export interface CvvKeyIssuer {
  /** Does not fail when Kafka is away; then there is no key yet. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The key to encrypt with now. Throws a {@link CvvKeyUnavailableError}, after a second at most. */
  current(): Promise<KeyRing>;
  ready(): boolean;
}

export interface CvvKeyIssuerOptions {
  sealer: Sealer;
  tokenKeys: Keys;
  /** Resolves when the message is durable. */
  publish: (data: CvvKeyIssuedData) => Promise<void>;
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
}

interface IssuedKey {
  ring: KeyRing;
  /** Epoch ms. */
  issuedAt: number;
}

export function createCvvKeyIssuer(options: CvvKeyIssuerOptions): CvvKeyIssuer {
  const { sealer, publish, now, logger } = options;
  const psk = writerKey(options.tokenKeys.active);
  /** Two at most, the newest last. */
  let issued: IssuedKey[] = [];
  let renewal: Promise<void> | undefined;

  const ageMs = ({ issuedAt }: IssuedKey): number => now() - issuedAt;
  const usable = (): IssuedKey[] => issued.filter((key) => ageMs(key) < CVV_KEY_USE_MS);

  /** A reader that lacks the key of a CVV waits for it, and the payment with it: so a new key first gets around. */
  function inUse(): IssuedKey | undefined {
    const keys = usable();
    return keys.findLast((key) => ageMs(key) >= READ_EVERYWHERE_AFTER_MS) ?? keys[0];
  }

  /** Nobody uses the key before it is durable: a CVV under a lost key would be lost too. */
  async function issue(): Promise<void> {
    const key = new Secret(randomBytes(KEY_BYTES));
    const keyId = randomBytes(KEY_ID_BYTES).toString('base64url');
    const issuedAt = now();
    const sealed = await sealer.seal(key.expose().toString('base64'), keyAad(keyId, issuedAt), psk);
    await publish({
      keyId,
      issuedAt,
      recipientKeyId: sealed.keyId,
      tokenKeyId: psk.id,
      sealed: sealed.data.toString('base64'),
    });
    issued = [...usable(), { ring: ringOf(keyId, key), issuedAt }];
  }

  /** One at a time. */
  function renew(): Promise<void> {
    renewal ??= issue()
      .catch((error: unknown) =>
        logger.warn('a key for security codes was not published; it is tried again', { reason: messageOf(error) }),
      )
      .finally(() => (renewal = undefined));
    return renewal;
  }

  async function renewInTime(): Promise<void> {
    const newest = issued.at(-1);
    if (newest === undefined || ageMs(newest) >= RENEW_AFTER_MS) await renew();
    issued = usable();
  }

  const renewing = repeat({
    name: 'renewing the key for security codes',
    everyMs: RENEWAL_CHECK_MS,
    work: renewInTime,
    logger,
  });
  return {
    async start() {
      await renewInTime();
      renewing.start();
    },
    async stop() {
      await renewing.stop();
      issued = [];
    },
    async current() {
      if (inUse() === undefined) await within(NEW_KEY_WAIT_MS, renew());
      const key = inUse();
      if (key === undefined) throw new CvvKeyUnavailableError();
      return key.ring;
    },
    ready: () => inUse() !== undefined,
  };
}

/** Resolves when the work is done, or after that time. */
async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** The reader's side: the keys that may still be needed, in memory alone. */
export interface CvvKeyStore {
  start(): void;
  stop(): Promise<void>;
  /** Repeated and expired keys are ignored. Never throws. */
  accept(data: CvvKeyIssuedData): void;
  /** Undefined if the key has expired, or is not published within a few seconds. */
  find(keyId: string): Promise<KeyRing | undefined>;
}

export interface CvvKeyStoreOptions {
  opener: Opener;
  tokenKeys: Keys;
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
  /** Shorter in tests. */
  waitMs?: number;
}

interface KnownKey {
  issuedAt: number;
  ring: Promise<KeyRing | undefined>;
}

export function createCvvKeyStore(options: CvvKeyStoreOptions): CvvKeyStore {
  const { opener, tokenKeys, now, logger, waitMs = CVV_KEY_WAIT_MS } = options;
  const known = new Map<string, KnownKey>();
  const waiting = new Map<string, Set<() => void>>();

  const expired = (issuedAt: number): boolean => now() - issuedAt > KEY_LIFETIME_MS;

  async function open(data: CvvKeyIssuedData): Promise<KeyRing | undefined> {
    const { keyId, issuedAt, recipientKeyId, tokenKeyId, sealed } = data;
    try {
      const psk = writerKey({ id: tokenKeyId, key: tokenKeys.find(tokenKeyId) });
      const box = { keyId: recipientKeyId, data: Buffer.from(sealed, 'base64') };
      const key = await opener.open(box, keyAad(keyId, issuedAt), psk);
      return ringOf(keyId, new Secret(Buffer.from(key.toString(), 'base64')));
    } catch (error) {
      logger.error('a key for security codes does not open', { keyId, reason: messageOf(error) });
      return undefined;
    }
  }

  /** Destroys what is no longer needed. Keys come in order of their age, more or less. */
  function forget(): void {
    for (const [keyId, { issuedAt }] of known) {
      if (expired(issuedAt) || known.size > KEYS_MAX) known.delete(keyId);
    }
  }

  /** Resolves when the key arrives, or after a while. */
  function arrival(keyId: string): Promise<void> {
    return new Promise((resolve) => {
      const arrived = waiting.get(keyId) ?? new Set();
      waiting.set(keyId, arrived);
      const end = (): void => {
        clearTimeout(timer);
        arrived.delete(end);
        if (arrived.size === 0) waiting.delete(keyId);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      arrived.add(end);
    });
  }

  const forgetting: Repeating = repeat({
    name: 'destroying keys for security codes',
    everyMs: EXPIRY_CHECK_MS,
    work: async () => forget(),
    logger,
  });
  return {
    start: () => forgetting.start(),
    async stop() {
      await forgetting.stop();
      known.clear();
    },
    accept(data) {
      if (known.has(data.keyId) || expired(data.issuedAt)) return;
      known.set(data.keyId, { issuedAt: data.issuedAt, ring: open(data) });
      forget();
      for (const end of waiting.get(data.keyId) ?? []) end();
    },
    async find(keyId) {
      if (!known.has(keyId)) await arrival(keyId);
      const key = known.get(keyId);
      return key === undefined || expired(key.issuedAt) ? undefined : key.ring;
    },
  };
}

function ringOf(keyId: string, key: Secret<Buffer>): KeyRing {
  return createKeyRing(keysOf('cvv.keys', [{ id: keyId, key }]));
}

/** Binds the key to its id and age, so that editing the message cannot make it younger. */
function keyAad(keyId: string, issuedAt: number): string {
  return `cvv-key\0${keyId}\0${issuedAt}`;
}
