import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { loadConfig } from '@gateway/service-kit';
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
