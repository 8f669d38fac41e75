import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { messageOf } from '@gateway/service-kit';
import type { Kms } from '@gateway/testing';
import { openKms } from '@gateway/testing';
import { main } from './command-line';
import { newKey } from './generate-keys';
import { publicKeyOf } from './hpke';
import { readKeys } from './keys';

const CREDENTIALS = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const PROVISIONING_TIMEOUT_MS = 400_000;

let kms: Kms;
let config: { KEY_PROVIDER: 'aws-kms'; KMS_KEY_ID: string; KMS_ENDPOINT: string; KMS_TIMEOUT_MS: number };

beforeAll(async () => {
  Object.assign(process.env, CREDENTIALS);
  kms = await openKms();
  const client = new KMSClient({ endpoint: kms.url });
  const { KeyMetadata } = await client.send(new CreateKeyCommand({}));
  client.destroy();
  config = {
    KEY_PROVIDER: 'aws-kms',
    KMS_KEY_ID: KeyMetadata?.KeyId ?? '',
    KMS_ENDPOINT: kms.url,
    KMS_TIMEOUT_MS: 5_000,
  };
}, PROVISIONING_TIMEOUT_MS);

afterAll(() => kms.close());

/** New keys as `npm run vault -- rotate` makes them. */
async function made(setting: string, id: string): Promise<Record<string, string>> {
  let text = '';
  const env = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)]));
  const code = await main(['rotate', setting, '--id', id, '--json'], {
    env,
    out: (line) => void (text += line),
    err: (line) => void (text += line),
  });
  expect({ code, text: text.slice(0, 1) }).toEqual({ code: 0, text: '{' });
  return JSON.parse(text) as Record<string, string>;
}

type Setting = 'CARD_KEYS' | 'CVV_KEYS';

async function failureOf(
  settings: Partial<Record<Setting, string>>,
  changes: Partial<typeof config> = {},
): Promise<string> {
  const all = { ...config, ...changes, ...(settings as Record<Setting, string>) };
  return readKeys(all, Object.keys(settings) as Setting[]).then(
    () => 'none',
    (error: unknown) => messageOf(error),
  );
}

test('a key that the KMS has wrapped is unwrapped when it is read; its public half was never wrapped', async () => {
  const { CARD_KEYS = '', CARD_PUBLIC_KEY = '' } = await made('CARD_KEYS', 'k1');
  expect(Buffer.from(CARD_KEYS.split(':')[1] ?? '', 'base64').length).toBeGreaterThan(60);
  const keys = await readKeys({ ...config, CARD_KEYS, CARD_PUBLIC_KEY }, ['CARD_KEYS', 'CARD_PUBLIC_KEY']);
  const half = publicKeyOf(keys.CARD_KEYS.active.key).expose();
  expect(half.equals(keys.CARD_PUBLIC_KEY.active.key.expose())).toBe(true);
});

test('a ring may have several', async () => {
  const [{ TOKEN_KEYS: first }, { TOKEN_KEYS: second }] = [
    await made('TOKEN_KEYS', 'a'),
    await made('TOKEN_KEYS', 'b'),
  ];
  const { TOKEN_KEYS: keys } = await readKeys({ ...config, TOKEN_KEYS: `${second},${first}` }, ['TOKEN_KEYS']);
  expect(keys.all.map(({ id }) => id)).toEqual(['b', 'a']);
});

test('a wrapped key does not open as the key of another setting or id', async () => {
  const { CARD_KEYS = '' } = await made('CARD_KEYS', 'k1');
  const { CVV_KEYS = '' } = await made('CVV_KEYS', 'k1');
  expect(await failureOf({ CVV_KEYS: CARD_KEYS })).toMatch(/^AWS KMS does not unwrap key "k1" of CVV_KEYS: /);
  expect(await failureOf({ CARD_KEYS: CARD_KEYS.replace('k1:', 'k2:') })).toMatch('key "k2" of CARD_KEYS');
  expect(await failureOf({ CARD_KEYS, CVV_KEYS })).toBe('none');
});

test('a key in clear is refused, and not shown', async () => {
  const clear = newKey('k1');
  const failure = await failureOf({ CARD_KEYS: clear });
  expect(failure).toMatch('does not unwrap key "k1" of CARD_KEYS');
  expect(failure).not.toContain(clear.split(':')[1]);
});

test('a KMS that does not answer ends the start in time, with one sentence', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  const { CARD_KEYS = '' } = await made('CARD_KEYS', 'k1');
  const begun = performance.now();
  const { port } = silent.address() as AddressInfo;
  const failure = await failureOf({ CARD_KEYS }, { KMS_ENDPOINT: `http://127.0.0.1:${port}`, KMS_TIMEOUT_MS: 500 });
  expect(failure).toMatch('does not unwrap key "k1" of CARD_KEYS');
  expect(performance.now() - begun).toBeLessThan(5_000);
  silent.closeAllConnections();
  silent.close();
});

test('the KMS needs a key', async () => {
  const { KMS_KEY_ID: _, ...without } = config;
  const failure = await readKeys({ ...without, CARD_KEYS: newKey('k1') }, ['CARD_KEYS']).catch(messageOf);
  expect(failure).toBe('Configuration: KMS_KEY_ID is not set, and KEY_PROVIDER=aws-kms needs it.');
});
