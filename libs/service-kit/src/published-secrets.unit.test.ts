import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { parseCallers, refusePublishedTokens } from './callers';
import { loadConfig } from './config';
import { fingerprintsOf, isPublished, secretsIn } from './published-secrets';
import { ownKeyText, secretText } from './secret-settings';

const ROOT = join(__dirname, '../../..');
const COMPOSE = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const [ACCOUNT_KEY = ''] = /(?<=&account-keys 'dev-1:)[^']+/.exec(COMPOSE) ?? [];
const TOKEN = 'development-token-of-the-callback-dispatcher-0001';

const settings = Type.Object({
  ANY: Type.Optional(secretText({ description: 'a secret' })),
  PUBLIC: Type.Optional(ownKeyText({ description: 'the public half of a key' })),
  OPEN: Type.Optional(Type.String()),
});
const load = (env: Record<string, string>) => loadConfig(settings, { NODE_ENV: 'production', ...env });

test.each([
  ['a key under another id', `2026:${ACCOUNT_KEY}`],
  ['a key without its id and padding', ACCOUNT_KEY.replace('=', '')],
  ['a key as base64url', ACCOUNT_KEY.replaceAll('/', '_').replaceAll('+', '-')],
  ['one of several keys', `a:${randomBytes(32).toString('base64')}, b:${ACCOUNT_KEY}`],
  ['a token', TOKEN],
  ['a token in a header', `x-tenant=1,authorization=Bearer ${TOKEN}`],
  ['the password of an address', 'mongodb://payout:password@db/?tls=true'],
  ['the password of an address, encoded', 'mongodb+srv://payout:p%61ssword@db/?tls=true'],
  ['a key of zeros', `k1:${Buffer.alloc(32).toString('base64')}`],
  ['a key of one byte', Buffer.alloc(48, 7).toString('base64')],
])('production refuses %s, whatever the setting', (_name, value) => {
  expect(() => load({ ANY: value })).toThrow('ANY is published with this software, or one repeated byte.');
  expect(() => load({ PUBLIC: value })).toThrow('PUBLIC is published');
  expect(load({ OPEN: value })).toEqual({ OPEN: value });
  expect(loadConfig(settings, { NODE_ENV: 'development', ANY: value })).toEqual({ ANY: value });
});

test("production takes an operator's own secrets", () => {
  const key = randomBytes(32).toString('base64');
  for (const value of [`k1:${key}`, key, `mongodb://payout:${randomBytes(16).toString('hex')}@db`]) {
    expect(load({ ANY: value })).toEqual({ ANY: value });
  }
});

test('a list of callers is refused for the hash of a published token', () => {
  const callersOf = (token: string) => {
    const tokenSha256 = createHash('sha256').update(token).digest('hex');
    return parseCallers(JSON.stringify([{ name: 'ops', kind: 'operator', tokenSha256 }]));
  };
  expect(() => refusePublishedTokens(callersOf(TOKEN))).toThrow('the token of ops is published');
  const own = callersOf(randomBytes(24).toString('hex'));
  expect(refusePublishedTokens(own)).toBe(own);
});

describe('every secret in the repository has its fingerprint in the list', () => {
  /** Not secrets: digests, test vectors of an RFC, answers in examples. */
  const NO_SECRETS =
    /^(scripts\/install\/|libs\/vault\/src\/hpke|docs\/openapi|services\/api-edge\/src\/adapters\/openapi\/)/;
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => /(\.(ts|mjs|cjs|js|json|ya?ml|sh|md|env|example|tpl|conf|properties)|file)$/.test(file))
    .filter((file) => !/package-lock\.json$/.test(file) && !NO_SECRETS.test(file));
  const names = namesOfSecrets();

  test('the scan sees the files and the settings', () => {
    expect(files).toEqual(expect.arrayContaining(['docker-compose.yml', 'deploy/compose/production.yml']));
    expect(names).toEqual(
      expect.arrayContaining(['JOURNAL_HMAC_KEY', 'TOKEN_KEYS', 'THREEDS_PROOF_KEY', 'KAFKA_PASSWORD', 'MONGODB_URI']),
    );
  });

  test('and none is missing', () => {
    const missing = files.flatMap((file) =>
      secretsOf(readFileSync(join(ROOT, file), 'utf8'), names)
        .filter((text) => !secretsIn(text).some(isPublished))
        .map((text) => `${file}: ${text.slice(0, 12)}… is ${fingerprintsOf(text)[0]}`),
    );
    expect(missing).toEqual([]);
  });

  test('a new one is found', () => {
    const key = randomBytes(32).toString('base64');
    expect(secretsOf(`x: 'dev-9:${key}'`, names)).toEqual([key]);
    const password = randomBytes(8).toString('hex');
    expect(secretsOf(`  KAFKA_PASSWORD: ${password}-1`, names)).toEqual([`${password}-1`]);
    expect(secretsOf(`mongodb://someone:x${password}@db/`, names)).toEqual([`x${password}`]);
  });
});

/** The names that `secretText` and `ownKeyText` declare anywhere. */
function namesOfSecrets(): string[] {
  const sources = execFileSync(
    'git',
    ['grep', '-hE', '-A1', '(^|[^A-Z_])[A-Z][A-Z_]+: ?', '--', '*settings.ts', '*config.ts'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  const declared = sources.matchAll(
    /\b([A-Z][A-Z0-9_]{2,40}):\s+(?:Type\.Optional\(\s*)?(?:secretText|ownKeyText|keyListText|keys?)\(/g,
  );
  return [...new Set([...declared].map(([, name = '']) => name))];
}

const BASE64_KEY = /(?<![\w+/=-])[A-Za-z0-9+/]{42,86}={0,2}(?![\w+/=-])/g;
const URI_PASSWORD = /\b[a-z][a-z0-9+]*:\/\/[^\s/:@'"`]+:(?!\d+@)([^\s/@'"`{}$]{2,})@/g;

/** What a text says in clear: keys in base64, values of secret settings, passwords of addresses. */
function secretsOf(text: string, names: readonly string[]): string[] {
  const keys = [...text.matchAll(BASE64_KEY)].map(([key]) => key).filter(isLikeAKey);
  const value = new RegExp(`\\b(?:${names.join('|')})['"]?[:=] *['"]?([\\w+/=.-]{4,})['"]?(?=[,;\\s]|$)`, 'gm');
  const values = [...text.matchAll(value)].map(([, found = '']) => found).filter(isLiteral);
  const passwords = [...text.matchAll(URI_PASSWORD)].map(([, found = '']) => found);
  return [...new Set([...keys, ...values, ...passwords])];
}

function isLikeAKey(text: string): boolean {
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text) || !/\d/.test(text)) return false;
  return text.length % 4 === 0 && (text.endsWith('=') || /[+]/.test(text));
}

/** Not the name of a variable, a call or a type, as code has them. */
function isLiteral(text: string): boolean {
  return /[-\d]/.test(text) && !(text.includes('.') && /^[\w.]+$/.test(text)) && !/^[A-Z_]+$/.test(text);
}
