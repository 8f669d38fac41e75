import { createHash } from 'node:crypto';
import type { TestCallers } from '@gateway/testing';
import { createCallers, newCaller } from '@gateway/testing';
import { callerOf, identityTokenFrom, operatorFrom, parseCallers } from './callers';
import { ConfigurationError } from './configuration-error';

const hash = (token: string) => createHash('sha256').update(token).digest('hex');
const entry = (name: string, kind: string, token: string) => ({ name, kind, tokenSha256: hash(token) });
const parse = (...entries: unknown[]) => parseCallers(JSON.stringify(entries));

describe('a list of callers', () => {
  test('gives the caller of a token, and nobody for another one', () => {
    const callers = parse(entry('alice', 'operator', 'a'), entry('api-edge', 'api-edge', 'e'));
    expect(callerOf(callers, 'a')).toEqual({ name: 'alice', kind: 'operator' });
    expect(callerOf(callers, 'e')).toEqual({ name: 'api-edge', kind: 'api-edge' });
    for (const unknown of ['', 'b', 'alice', hash('a')]) expect(callerOf(callers, unknown)).toBeUndefined();
  });

  test('may hold two tokens of one caller, while one replaces the other', () => {
    const callers = parse(entry('alice', 'operator', 'old'), entry('alice', 'operator', 'new'));
    expect(callerOf(callers, 'old')).toEqual(callerOf(callers, 'new'));
  });

  test.each([
    ['no list', { name: 'alice' }, /wrong/],
    ['an empty list', [], /fewer than 1/],
    ['an unknown kind', [entry('alice', 'root', 'a')], /\/0\/kind/],
    ['a name with a line break', [entry('alice\nbob', 'operator', 'a')], /\/0\/name/],
    ['a token itself', [{ name: 'alice', kind: 'operator', tokenSha256: 'a' }], /\/0\/tokenSha256/],
    ['a field too many', [{ ...entry('alice', 'operator', 'a'), token: 'a' }], /additional/],
    ['one token of two callers', [entry('a', 'operator', 'x'), entry('b', 'metrics', 'x')], /another entry/],
    ['one name of two kinds', [entry('a', 'operator', 'x'), entry('a', 'metrics', 'y')], /two kinds/],
  ])('is refused if it is or has %s', (_what, list, reason) => {
    expect(() => parseCallers(JSON.stringify(list))).toThrow(reason);
  });

  test('is not quoted if it is no JSON', () => {
    expect(() => parseCallers('a secret')).toThrow(/^the list of callers is not JSON$/);
  });
});

describe('the identity of a command line', () => {
  const alice = newCaller('alice', 'operator');
  const collector = newCaller('prometheus', 'metrics');
  let callers: TestCallers;
  beforeAll(() => {
    callers = createCallers([alice, collector]);
  });
  afterAll(() => callers.remove());

  test('is that of the operator with its token', () => {
    const env = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: alice.token };
    expect(operatorFrom(env)).toEqual({ name: 'alice', kind: 'operator' });
  });

  test.each([
    ['no token', () => ({ CALLERS_FILE: callers.file }), 'IDENTITY_TOKEN is not set'],
    ['no callers', () => ({ IDENTITY_TOKEN: alice.token }), 'CALLERS_FILE is not set'],
    ['no file', () => ({ CALLERS_FILE: '/nowhere', IDENTITY_TOKEN: alice.token }), /CALLERS_FILE: .*ENOENT/],
    ['an unknown token', () => ({ CALLERS_FILE: callers.file, IDENTITY_TOKEN: 'x'.repeat(32) }), 'has no entry'],
    [
      'a token that is no operator’s',
      () => ({ CALLERS_FILE: callers.file, IDENTITY_TOKEN: collector.token }),
      'belongs to prometheus, who is not an operator',
    ],
  ])('needs more than %s', (_what, env, reason) => {
    const identify = () => operatorFrom(env());
    expect(identify).toThrow(ConfigurationError);
    expect(identify).toThrow(reason);
  });

  test('may be missing where a port asks for none, but not too short', () => {
    expect(identityTokenFrom({})).toBeUndefined();
    expect(identityTokenFrom({ IDENTITY_TOKEN: alice.token })).toBe(alice.token);
    expect(() => identityTokenFrom({ IDENTITY_TOKEN: 'short' })).toThrow('IDENTITY_TOKEN must NOT have fewer');
  });
});
