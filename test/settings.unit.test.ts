import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TObject, TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings, loadConfig } from '@gateway/service-kit';
import type { DeclaredSetting } from './support/declared-settings';
import { declaredSettings } from './support/declared-settings';

const DECLARED = declaredSettings();
/** In docker-compose.yml. */
const PUBLISHED = 'development-token-of-the-callback-dispatcher-0001';

const directory = mkdtempSync(join(tmpdir(), 'gateway-settings-'));
const folder = mkdtempSync(join(directory, 'passwords-'));
const file = join(directory, 'secret');
beforeAll(() => {
  writeFileSync(file, `${PUBLISHED}\n`);
  writeFileSync(join(folder, 'payout'), `${PUBLISHED}\n`);
  writeFileSync(join(folder, 'threeds'), 'a password of nobody else');
});
afterAll(() => rmSync(directory, { recursive: true }));

const marked = (keyword: string): DeclaredSetting[] => DECLARED.filter(({ schema }) => schema[keyword] === true);
const namesOf = (settings: DeclaredSetting[]): string[] => [...new Set(settings.map(({ name }) => name))].toSorted();

/** The setting alone, with any text, as production loads it. */
function load({ name, schema }: DeclaredSetting, env: Record<string, string>): unknown {
  const { pattern: _, minLength: __, ...anyText } = schema;
  return loadConfig(Type.Object({ [name]: Type.Unsafe<string>(anyText) }), { NODE_ENV: 'production', ...env });
}

test('the settings of every service are found', () => {
  expect(namesOf(DECLARED)).toEqual(
    expect.arrayContaining(['DIRECTORY_SERVER_URL', 'KMS_ENDPOINT', 'MONGODB_URI', 'OTLP_URL', 'SIMULATOR_URL']),
  );
});

test('beside the address of each counterpart is the authority of its certificate', () => {
  const called = DECLARED.filter(({ schema }) => schema['called'] === 'counterpart');
  expect(namesOf(called).length).toBeGreaterThanOrEqual(4);
  const lacking = called.filter(({ name, besides }) => !besides.includes(name.replace(/_(URL|ENDPOINT)$/, '_CA_FILE')));
  expect(namesOf(lacking)).toEqual([]);
});

test('beside the address of each internal port is the authority of its certificate', () => {
  const called = DECLARED.filter(({ schema }) => schema['called'] === 'own');
  expect(namesOf(called).length).toBeGreaterThanOrEqual(3);
  expect(namesOf(called.filter(({ besides }) => !besides.includes('INTERNAL_TLS_CA_FILE')))).toEqual([]);
});

/** MongoDB's URI is no web address, and has rules of its own. */
const ADDRESS_NAME = /^(?!MONGODB_URI$).+_(URLS?|URI|ENDPOINT|ORIGIN)$/;
const ADDRESSES = DECLARED.filter(({ schema }) => schema['called'] !== undefined);
const PROXIES = ADDRESSES.filter(({ schema }) => schema['called'] === 'proxy');
const ENCRYPTED = ADDRESSES.filter((setting) => !PROXIES.includes(setting));
const IN_CLEAR = ['http://elsewhere.example', 'http://127.0.0.1:9', 'http://[::1]:9', 'http://localhost'];

/** The setting with this address, as production loads it. */
function withAddress({ name, schema }: DeclaredSetting, address: string, plain = 'no'): () => unknown {
  const { ALLOW_PLAIN_INTERNAL_PORTS } = commonSettings;
  const env = { [name]: name.endsWith('_URLS') ? `a=https://a,b=${address}` : address };
  return () =>
    loadConfig(Type.Object({ [name]: schema, ALLOW_PLAIN_INTERNAL_PORTS }), {
      NODE_ENV: 'production',
      ALLOW_PLAIN_INTERNAL_PORTS: plain,
      ...env,
    });
}

describe('an address', () => {
  test('is of the one type, whatever service has it', () => {
    expect(namesOf(ENCRYPTED)).toEqual(
      expect.arrayContaining([
        ...['CALLBACK_ADMIN_URL', 'CARD_QUERY_URL', 'DIRECTORY_SERVER_URL', 'KMS_ENDPOINT', 'OPS_URLS', 'OTLP_URL'],
        ...['PAYOUT_QUERY_URL', 'PUBLIC_BASE_URL', 'SIMULATOR_PUBLIC_URL', 'SIMULATOR_URL', 'THREEDS_RESULTS_URL'],
      ]),
    );
    const others = DECLARED.filter((setting) => !ADDRESSES.includes(setting));
    const named = others.filter(({ name }) => ADDRESS_NAME.test(name));
    const shaped = others.filter(({ schema }) => /^\^?\(?https?/.test(String(schema['pattern'])));
    expect(namesOf([...named, ...shaped])).toEqual([]);
  });

  test('is HTTPS in production, also on this machine', () => {
    for (const setting of ENCRYPTED) {
      for (const address of IN_CLEAR) {
        expect(withAddress(setting, address)).toThrow(`${setting.name} is ${address}, which is not HTTPS.`);
      }
      expect(withAddress(setting, 'https://elsewhere.example')).not.toThrow();
    }
  });

  test('of a forward proxy alone may be in clear: what goes through it has TLS of its own', () => {
    expect(namesOf(PROXIES)).toEqual(['OUTBOUND_PROXY_URL']);
    for (const setting of PROXIES) expect(withAddress(setting, 'http://proxy.example:3128')).not.toThrow();
  });

  test('of an internal port may be in clear during a change-over, and no other', () => {
    for (const setting of ENCRYPTED) {
      const load = withAddress(setting, 'http://elsewhere.example', 'yes');
      if (setting.schema['called'] === 'own') expect(load).not.toThrow();
      else expect(load).toThrow('which is not HTTPS');
    }
  });

  test('is read from its setting, and from nowhere else', () => {
    const reading = '(env|environment)(\\.|\\[.)[A-Z_]+_(URLS?|ENDPOINT)';
    const sources = ['services/*/src/*.ts', 'libs/*/src/*.ts', 'deploy/*/src/*.ts', ':!*.test.ts'];
    const found = execFileSync('git', ['grep', '--untracked', '-lE', reading, '--', ...sources], {
      cwd: join(__dirname, '..'),
      encoding: 'utf8',
    });
    // Merchants install the first; the second asks only whether it is set.
    expect(found.trim().split('\n')).toEqual([
      'libs/merchant-client/src/cli/command.ts',
      'services/payout/src/adapters/banks/banks.ts',
    ]);
  });
});

test('every service has internal ports, which need a certificate in production', () => {
  const names = readdirSync(join(__dirname, '..', 'services'));
  expect(names.length).toBeGreaterThanOrEqual(7);
  const named = ['INTERNAL_TLS_CERT_FILE', 'INTERNAL_TLS_KEY_FILE', 'ALLOW_PLAIN_INTERNAL_PORTS'] as const;
  for (const name of names) {
    const file = join(__dirname, '..', 'services', name, 'src', 'config.ts');
    const { settings } = jest.requireActual<{ settings: TObject }>(file);
    const of = Object.fromEntries(named.map((setting) => [setting, settings.properties[setting] as TSchema]));
    expect([name, Object.values(of)]).toEqual([name, named.map((setting) => commonSettings[setting])]);
    expect(() => loadConfig(Type.Object(of), { NODE_ENV: 'production' })).toThrow(
      'so that internal ports have no TLS.',
    );
  }
});

test('a setting with the name of a secret is declared as one', () => {
  const named = DECLARED.filter(({ name }) => /(^|_)(PASSWORDS?|SECRETS?|TOKENS?|KEYS?|HEADERS)(_DIR)?$/.test(name));
  expect(namesOf(named)).toEqual(expect.arrayContaining(['CARD_KEYS', 'KAFKA_PASSWORD', 'KAFKA_PASSWORDS_DIR']));
  const open = named.filter(({ schema }) => schema['own'] !== true && schema['folder'] !== true);
  expect(namesOf(open)).toEqual([]);
});

test('production refuses a published secret in every setting, also from its file', () => {
  const own = marked('own');
  expect(namesOf(own)).toEqual(expect.arrayContaining(['MONGODB_URI', 'KAFKA_PASSWORD', 'OTLP_HEADERS', 'TOKEN_KEYS']));
  for (const setting of own) {
    const refusal = `${setting.name} is published with this software`;
    expect(() => load(setting, { [setting.name]: PUBLISHED })).toThrow(refusal);
    if (setting.schema['secret'] === true) {
      expect(() => load(setting, { [`${setting.name}_FILE`]: file })).toThrow(refusal);
    }
  }
});

test('production refuses every folder with a published secret, and names its file', () => {
  const folders = marked('folder');
  expect(namesOf(folders)).toEqual(['KAFKA_PASSWORDS_DIR', 'MONGODB_PASSWORDS_DIR']);
  for (const setting of folders) {
    const env = { [setting.name]: folder };
    expect(() => load(setting, env)).toThrow(
      `${setting.name} has secrets that are published with this software: payout.`,
    );
    expect(load(setting, { ...env, NODE_ENV: 'development' })).toEqual(env);
    expect(load(setting, { [setting.name]: join(directory, 'missing') })).toBeDefined();
  }
});
