import { randomBytes } from 'node:crypto';
import type { CvvKeyIssuedData } from '@gateway/contracts';
import { CvvKeyIssued, Secret } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import type { CvvKeyIssuer, CvvKeyStore } from './cvv-keys';
import { createCvvKeyIssuer, createCvvKeyStore, CvvKeyUnavailableError } from './cvv-keys';
import { createOpener, createSealer, publicKeyOf } from './hpke';
import { keysOf } from './keys';

const MINUTE_MS = 60_000;
const key = (id: string) => ({ id, key: new Secret(randomBytes(32)) });
const cvvKeys = keysOf('CVV_KEYS', [key('c1')]);
const tokenKeys = keysOf('TOKEN_KEYS', [key('t1')]);

let now: number;
let published: CvvKeyIssuedData[];
let reachable: boolean;
let warnings: string[];
let opened: { stop(): Promise<void> }[];

const logger = (): Logger => {
  const note = (message: string) => void warnings.push(message);
  const silent: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: note,
    error: note,
    child: () => silent,
  };
  return silent;
};

function issuer(): CvvKeyIssuer {
  const { active } = cvvKeys;
  const sealer = createSealer({ id: active.id, key: publicKeyOf(active.key) }, 'cvv');
  const publish = async (data: CvvKeyIssuedData): Promise<void> => {
    if (!reachable) throw new Error('the brokers are away');
    published.push(data);
  };
  const made = createCvvKeyIssuer({ sealer, tokenKeys, publish, now: () => now, logger: logger() });
  opened.push(made);
  return made;
}

function store(own = cvvKeys, proof = tokenKeys): CvvKeyStore {
  const opener = createOpener(own, 'cvv');
  const made = createCvvKeyStore({ opener, tokenKeys: proof, now: () => now, logger: logger(), waitMs: 50 });
  opened.push(made);
  return made;
}

beforeEach(() => {
  now = Date.now();
  published = [];
  reachable = true;
  warnings = [];
  opened = [];
});

afterEach(() => Promise.all(opened.map((one) => one.stop())));

const lastPublished = (): CvvKeyIssuedData => published.at(-1) as CvvKeyIssuedData;

describe('the edge', () => {
  test('publishes a key before it uses it, and the message keeps its contract', async () => {
    const keys = issuer();
    expect(keys.ready()).toBe(false);
    await keys.start();
    expect(keys.ready()).toBe(true);
    expect(published).toHaveLength(1);
    expect(CvvKeyIssued.problem(published[0])).toBeUndefined();
    expect((await keys.current()).activeKeyId).toBe(lastPublished().keyId);
  });

  test('changes the key within five minutes', async () => {
    const keys = issuer();
    await keys.start();
    now += 5 * MINUTE_MS;
    expect(keys.ready()).toBe(false);
    expect((await keys.current()).activeKeyId).toBe(published[1]?.keyId);
    expect(published[1]?.keyId).not.toBe(published[0]?.keyId);
  });

  test('uses the next key when every replica of card-processing has had the time to read it', async () => {
    const keys = issuer();
    await keys.start();
    now += 4 * MINUTE_MS;
    await until('the next key is published', async () => published.length === 2);
    now += MINUTE_MS / 2 - 1;
    expect((await keys.current()).activeKeyId).toBe(published[0]?.keyId);
    now += 1;
    expect((await keys.current()).activeKeyId).toBe(published[1]?.keyId);
    expect(published).toHaveLength(2);
  });

  test('uses a next key that came late when the last one is five minutes old', async () => {
    const keys = issuer();
    await keys.start();
    now += 5 * MINUTE_MS - 1;
    await until('the next key is published', async () => published.length === 2);
    expect((await keys.current()).activeKeyId).toBe(published[0]?.keyId);
    now += 1;
    expect((await keys.current()).activeKeyId).toBe(published[1]?.keyId);
    expect(published).toHaveLength(2);
  });

  test('continues with the key it has while Kafka is away, for five minutes at most', async () => {
    const keys = issuer();
    await keys.start();
    reachable = false;
    now += 5 * MINUTE_MS - 1;
    expect((await keys.current()).activeKeyId).toBe(lastPublished().keyId);
    now += 1;
    await expect(keys.current()).rejects.toThrow(CvvKeyUnavailableError);
    reachable = true;
    expect((await keys.current()).activeKeyId).toBe(lastPublished().keyId);
    expect(published).toHaveLength(2);
  });

  test('refuses within a second when Kafka does not answer', async () => {
    const { active } = cvvKeys;
    const sealer = createSealer({ id: active.id, key: publicKeyOf(active.key) }, 'cvv');
    const never = () => new Promise<never>(() => undefined);
    const keys = createCvvKeyIssuer({ sealer, tokenKeys, publish: never, now: () => now, logger: logger() });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const refused = expect(keys.current()).rejects.toThrow(CvvKeyUnavailableError);
      await jest.advanceTimersByTimeAsync(1_000);
      await refused;
    } finally {
      jest.useRealTimers();
    }
  });

  test('starts without Kafka, and without a key', async () => {
    reachable = false;
    const keys = issuer();
    await keys.start();
    expect(keys.ready()).toBe(false);
    expect(warnings[0]).toMatch('not published');
  });

  test('asks for one key, however many requests wait', async () => {
    const keys = issuer();
    await Promise.all(Array.from({ length: 50 }, () => keys.current()));
    expect(published).toHaveLength(1);
  });
});

describe('card-processing', () => {
  test('opens with the key what the edge encrypted', async () => {
    const keys = issuer();
    const readers = store();
    const sealed = (await keys.current()).encrypt('123', 'R1');
    readers.accept(lastPublished());
    readers.accept(lastPublished());
    expect((await readers.find(sealed.keyId))?.decrypt(sealed, 'R1').toString()).toBe('123');
  });

  test('waits a moment for a key that it has not read yet', async () => {
    const readers = store();
    await issuer().current();
    const finding = Promise.all([readers.find(lastPublished().keyId), readers.find(lastPublished().keyId)]);
    readers.accept(lastPublished());
    expect((await finding).every((ring) => ring !== undefined)).toBe(true);
    expect(await readers.find('another')).toBeUndefined();
  });

  test('has a key for as long as a CVV under it may be read, and not longer', async () => {
    const readers = store();
    await issuer().current();
    readers.accept(lastPublished());
    now += 25 * MINUTE_MS;
    expect(await readers.find(lastPublished().keyId)).toBeDefined();
    now += 1;
    expect(await readers.find(lastPublished().keyId)).toBeUndefined();
    const restarted = store();
    restarted.accept(lastPublished());
    expect(await restarted.find(lastPublished().keyId)).toBeUndefined();
  });

  test.each([
    ['made younger', (data: CvvKeyIssuedData) => ({ ...data, issuedAt: data.issuedAt + 1 })],
    ['renamed', (data: CvvKeyIssuedData) => ({ ...data, keyId: randomBytes(16).toString('base64url') })],
  ])('refuses a key that was %s', async (_name, change) => {
    const readers = store();
    await issuer().current();
    const changed = change(lastPublished());
    readers.accept(changed);
    expect(await readers.find(changed.keyId)).toBeUndefined();
    expect(warnings).toContain('a key for security codes does not open');
  });

  test.each([
    ['the private key', () => store(keysOf('CVV_KEYS', [key('c1')]))],
    ['the token key', () => store(cvvKeys, keysOf('TOKEN_KEYS', [key('t1')]))],
  ])('opens no key without %s of the edge', async (_name, without) => {
    const readers = without();
    await issuer().current();
    readers.accept(lastPublished());
    expect(await readers.find(lastPublished().keyId)).toBeUndefined();
  });

  test('keeps a bounded number of keys, the newest', async () => {
    const readers = store();
    await issuer().current();
    const first = lastPublished();
    readers.accept(first);
    for (let index = 0; index < 4_096; index += 1) {
      readers.accept({ ...first, keyId: index.toString(36).padStart(22, '0') });
    }
    expect(await readers.find(first.keyId)).toBeUndefined();
  });
});
