import { Type } from '@sinclair/typebox';
import { calledAddress, calledAddresses } from './called-address';
import { commonSettings, loadConfig } from './config';
import { listeningHosts, requireProfile, requireThisMachine } from './profile';

const { NODE_ENV, DEVELOPMENT_REACH } = commonSettings;
const settings = Type.Object({
  NODE_ENV,
  DEVELOPMENT_REACH,
  HOST: listeningHosts({ default: '127.0.0.1', description: 'a port' }),
  BANK_URL: Type.Optional(calledAddress({ description: 'a bank' })),
  QUERY_URL: Type.Optional(calledAddress({ whose: 'own', description: 'an internal port' })),
  OPS_URLS: Type.Optional(calledAddresses({ whose: 'own', description: 'internal ports' })),
  PUBLIC_URL: Type.Optional(calledAddress({ whose: 'public', description: 'where others reach us' })),
});
const check = (env: Record<string, string>) => () =>
  requireThisMachine(settings.properties, loadConfig(settings, { NODE_ENV: 'development', ...env }));

test.each([{}, { NODE_ENV: '' }])('a profile must be named: %j', (env) => {
  expect(() => requireProfile(env)).toThrow(/^NODE_ENV is not set: production .+, or development/);
});

test('a named profile is taken', () => expect(() => requireProfile({ NODE_ENV: 'development' })).not.toThrow());

test.each([
  [{ HOST: '0.0.0.0' }, 'HOST is 0.0.0.0, where other machines connect.'],
  [{ HOST: '127.0.0.1,::' }, 'HOST is 127.0.0.1,::, where other machines connect.'],
  [{ HOST: 'gateway.example' }, 'HOST is gateway.example, where other machines connect.'],
  [{ BANK_URL: 'http://bank.example' }, 'BANK_URL is http://bank.example, which is neither HTTPS nor on this machine.'],
  [{ BANK_URL: 'http://127.0.0.1.bank.example' }, 'which is neither HTTPS nor on this machine.'],
  [{ OPS_URLS: 'a=http://cards:9101' }, 'OPS_URLS is http://cards:9101, which is neither HTTPS nor on this machine.'],
  [{ QUERY_URL: 'http://cards:9201' }, 'QUERY_URL is http://cards:9201, which is neither HTTPS nor on this machine.'],
])('development does not leave this machine: %j', (env, sentence) => {
  expect(check(env)).toThrow(sentence);
  expect(check({ ...env, NODE_ENV: 'test' })).toThrow('NODE_ENV is test, which stays on this machine');
  expect(check({ ...env, DEVELOPMENT_REACH: 'network' })).not.toThrow();
});

test.each([
  {},
  { HOST: '127.0.0.1,::1,localhost' },
  { BANK_URL: 'https://bank.example' },
  { PUBLIC_URL: 'http://pay.test', OPS_URLS: 'cards=http://localhost:9101, threeds=https://threeds:9103' },
  { BANK_URL: 'http://[::1]:8090/v1', QUERY_URL: 'http://localhost:9201' },
])('development may use %j', (env) => expect(check(env)).not.toThrow());
