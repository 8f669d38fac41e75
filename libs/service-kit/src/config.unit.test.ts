import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { calledAddress, calledAddresses } from './called-address';
import { commonSettings, loadConfig } from './config';
import { ConfigurationError } from './configuration-error';
import { secretText } from './secret-settings';

const schema = Type.Object({
  PORT: Type.Integer({ minimum: 1, default: 8080 }),
  URL: Type.String({ minLength: 1 }),
  MODE: Type.Optional(Type.String()),
});

test('strings are converted as the schema says, and defaults apply', () => {
  expect(loadConfig(schema, { PORT: '9', URL: 'x', OTHER: 'y' })).toEqual({ PORT: 9, URL: 'x' });
  expect(loadConfig(schema, { PORT: '', URL: 'x' })).toEqual({ PORT: 8080, URL: 'x' });
});

test('all problems are reported together', () => {
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/PORT must be integer.*|URL is not set/);
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/PORT/);
  expect(() => loadConfig(schema, { PORT: 'many' })).toThrow(/URL is not set/);
});

test('the result is frozen', () => {
  expect(Object.isFrozen(loadConfig(schema, { URL: 'x' }))).toBe(true);
});

test('of a choice, the values are named', () => {
  const { LOG_LEVEL, NODE_ENV } = commonSettings;
  expect(
    problemOf(() => loadConfig(Type.Object({ LOG_LEVEL, NODE_ENV }), { LOG_LEVEL: 'loud', NODE_ENV: 'prod' })),
  ).toBe(
    'Configuration: LOG_LEVEL must be one of debug, info, warn, error, silent; ' +
      'NODE_ENV must be one of development, test, production.',
  );
});

describe('a secret', () => {
  const secrets = Type.Object({
    KEY: secretText({ minLength: 4, description: 'a key' }),
    TOKEN: Type.Optional(secretText({ description: 'a token' })),
    URL: Type.Optional(Type.String()),
  });
  const folder = mkdtempSync(join(tmpdir(), 'gateway-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const fileWith = (content: string): string => {
    const path = join(folder, String(content.length) + encodeURIComponent(content));
    writeFileSync(path, content);
    return path;
  };

  test.each([
    ['from its variable', { KEY: 'abcd' }, 'abcd'],
    ['from its file, without the newline at its end', { KEY_FILE: fileWith('abcd\n') }, 'abcd'],
    ['from a file written on Windows', { KEY_FILE: fileWith('abcd\r\n') }, 'abcd'],
    ['with its spaces', { KEY_FILE: fileWith(' ab cd \n') }, ' ab cd '],
    ['in any language', { KEY_FILE: fileWith('ключ…') }, 'ключ…'],
    ['from its file, if the variable is empty', { KEY: '', KEY_FILE: fileWith('efgh') }, 'efgh'],
    ['from its variable, if the name of the file is empty', { KEY: 'abcd', KEY_FILE: '' }, 'abcd'],
  ])('comes %s', (_name, env, expected) => {
    expect(loadConfig(secrets, env)).toEqual({ KEY: expected });
  });

  test('reports each problem of its file once, and never a value', () => {
    const env = { KEY: 'the-key-itself', KEY_FILE: fileWith('the-key-itself'), TOKEN_FILE: join(folder, 'missing') };
    expect(problemOf(() => loadConfig(secrets, env))).toBe(
      `Configuration: KEY and KEY_FILE are both set; TOKEN_FILE names a file that cannot be read, ${env.TOKEN_FILE} (ENOENT).`,
    );
    const empty = fileWith('\n');
    expect(problemOf(() => loadConfig(secrets, { KEY_FILE: empty }))).toBe(
      `Configuration: KEY_FILE names a file, ${empty}, that is empty.`,
    );
    expect(problemOf(() => loadConfig(secrets, { KEY_FILE: fileWith('abc') }))).toBe(
      'Configuration: KEY must NOT have fewer than 4 characters.',
    );
  });

  test.each<[string, string | Buffer]>([
    ['begins with a byte order mark (BOM); write it without', '\uFEFFabcd'],
    ['is UTF-16; write it as UTF-8', Buffer.from('\uFEFFabcd', 'utf16le')],
    ['is UTF-16; write it as UTF-8', Buffer.from('\uFEFFabcd', 'utf16le').swap16()],
    ['has a NUL byte, as UTF-16 does; write it as UTF-8', Buffer.from('abcd', 'utf16le')],
    ['has a NUL byte, as UTF-16 does; write it as UTF-8', 'abcd\0'],
    ['is not UTF-8', Buffer.from([0x61, 0x62, 0xe4, 0x64])],
    ['has a carriage return (CR)', 'abcd\r'],
    ['has a carriage return (CR)', 'ab\rcd\n'],
    ['has more than one line', 'abcd\nefgh\n'],
    ['has more than one line', 'abcd\n\n'],
    ['is longer than 65536 bytes', 'x'.repeat(65_537)],
  ])('is refused from a file that %s', (fault, content) => {
    const file = join(folder, 'made-by-people');
    writeFileSync(file, content);
    expect(problemOf(() => loadConfig(secrets, { KEY_FILE: file }))).toBe(
      `Configuration: KEY_FILE names a file, ${file}, that ${fault}.`,
    );
  });

  test('is read from no more of a file than a secret may have', () => {
    expect(problemOf(() => loadConfig(secrets, { KEY_FILE: '/dev/zero' }))).toContain('is longer than 65536 bytes');
  });

  test('is the only setting that a file may hold', () => {
    expect(loadConfig(secrets, { KEY: 'abcd', URL_FILE: fileWith('http://x') })).toEqual({ KEY: 'abcd' });
  });
});

describe('rules of the production profile', () => {
  const { NODE_ENV } = commonSettings;
  const settings = Type.Object({ NODE_ENV, PORT: Type.Integer(), HOST: Type.String({ default: 'here' }) });
  const rules = [
    ({ PORT }: { PORT: number }) => (PORT < 10 ? `PORT is ${PORT}.` : undefined),
    ({ HOST }: { HOST: string }) => (HOST === 'here' ? 'HOST is here.' : undefined),
  ];

  test('refuse everything unsafe at once', () => {
    expect(problemOf(() => loadConfig(settings, { NODE_ENV: 'production', PORT: '9' }, rules))).toBe(
      'NODE_ENV is production, where this is refused. PORT is 9. HOST is here.',
    );
  });

  test('judge valid settings only', () => {
    const env = { NODE_ENV: 'production', PORT: 'many' };
    expect(problemOf(() => loadConfig(settings, env, rules))).toBe('Configuration: PORT must be integer.');
  });

  test.each([{ PORT: '9' }, { PORT: '9', NODE_ENV: 'test' }, { PORT: '10', HOST: 'there', NODE_ENV: 'production' }])(
    'let %j pass',
    (env) => {
      expect(loadConfig(settings, env, rules)).toMatchObject({ PORT: Number(env.PORT) });
    },
  );
});

function problemOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('an address that is called', () => {
  const settings = Type.Object({
    BANK_URL: calledAddress({ description: 'a bank' }),
    PUBLIC_URL: Type.Optional(calledAddress({ whose: 'public', description: 'where others reach us' })),
    QUERY_URL: Type.Optional(calledAddress({ whose: 'own', description: 'an internal port' })),
    OPS_URLS: Type.Optional(calledAddresses({ whose: 'own', description: 'internal ports' })),
    ALLOW_PLAIN_INTERNAL_PORTS: Type.Optional(commonSettings.ALLOW_PLAIN_INTERNAL_PORTS),
  });
  const load = (env: Record<string, string>) => loadConfig(settings, env);

  test.each(['http://bank.example', 'http://127.0.0.1:9', 'http://[::1]:9', 'http://localhost'])(
    'is HTTPS in production, also where the schema has no profile: %s',
    (BANK_URL) => {
      expect(problemOf(() => load({ NODE_ENV: 'production', BANK_URL }))).toBe(
        `NODE_ENV is production, where this is refused. BANK_URL is ${BANK_URL}, which is not HTTPS.`,
      );
    },
  );

  test.each(['ftp://bank', 'bank.example', 'https://user:secret@bank.example', 'https://bank/?a', 'https://'])(
    'is a web address without user and query: %s',
    (BANK_URL) => expect(problemOf(() => load({ BANK_URL }))).toMatch(/^Configuration: BANK_URL must match/),
  );

  const BANK_URL = 'https://bank.example/v1';
  const inProduction = (env: Record<string, string>) => () => load({ NODE_ENV: 'production', BANK_URL, ...env });
  const REFUSED = 'NODE_ENV is production, where this is refused. ';

  test.each([
    [{ PUBLIC_URL: 'http://pay.example' }, 'PUBLIC_URL is http://pay.example, which is not HTTPS.'],
    [{ QUERY_URL: 'http://127.0.0.1:9201' }, 'QUERY_URL is http://127.0.0.1:9201, which is not HTTPS.'],
    [{ OPS_URLS: 'a=https://a:9100, b=http://b:9101' }, 'OPS_URLS is http://b:9101, which is not HTTPS.'],
    [{ OPS_URLS: 'a=https://a:9100,http://b:9101' }, 'OPS_URLS is http://b:9101, which is not HTTPS.'],
    [{ OPS_URLS: 'nonsense' }, 'OPS_URLS is nonsense, which is not HTTPS.'],
  ])('may not be in clear when it is ours, alone or in a list: %j', (env, sentence) => {
    expect(problemOf(inProduction(env))).toBe(REFUSED + sentence);
  });

  test('of an internal port may be in clear while the setting for it says so, and of nothing else', () => {
    const plain = { ALLOW_PLAIN_INTERNAL_PORTS: 'yes' };
    const own = { QUERY_URL: 'http://cards:9201', OPS_URLS: 'a=http://a:9100' };
    expect(inProduction({ ...own, ...plain })()).toEqual({ BANK_URL, ...own, ...plain });
    expect(problemOf(inProduction({ BANK_URL: 'http://bank.example', ...plain }))).toContain('BANK_URL is');
    expect(problemOf(inProduction({ PUBLIC_URL: 'http://pay.example', ...plain }))).toContain('PUBLIC_URL is');
  });
});

describe('an internal port', () => {
  const { INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE, ALLOW_PLAIN_INTERNAL_PORTS } = commonSettings;
  const settings = Type.Object({ INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE, ALLOW_PLAIN_INTERNAL_PORTS });
  const load = (env: Record<string, string>) => () => loadConfig(settings, { NODE_ENV: 'production', ...env });
  const [certificate, key] = [{ INTERNAL_TLS_CERT_FILE: '/cert.pem' }, { INTERNAL_TLS_KEY_FILE: '/key.pem' }];

  test('has a certificate in production', () => {
    for (const env of [{}, certificate, key]) {
      expect(problemOf(load(env))).toContain(
        'INTERNAL_TLS_CERT_FILE and INTERNAL_TLS_KEY_FILE are not set, so that internal ports have no TLS.',
      );
      expect(load({ ...env, NODE_ENV: 'development' })).not.toThrow();
      expect(load({ ...env, ALLOW_PLAIN_INTERNAL_PORTS: 'yes' })).not.toThrow();
    }
    expect(load({ ...certificate, ...key })).not.toThrow();
  });
});
