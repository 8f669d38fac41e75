import type { AuthenticationProviderArgs } from 'kafkajs';
import { KafkaJSConnectionError, KafkaJSProtocolError } from 'kafkajs';
import { scram } from './scram';

const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function authenticate(saslAuthenticate: AuthenticationProviderArgs['saslAuthenticate']): Promise<void> {
  const logger = quiet as unknown as AuthenticationProviderArgs['logger'];
  const { authenticationProvider } = scram({ username: 'payout', password: 'secret' });
  return authenticationProvider({ host: 'a', port: 1, logger, saslAuthenticate }).authenticate();
}

test('a connection that breaks during the exchange may be tried again', async () => {
  const broken = new KafkaJSConnectionError('closed', { broker: 'a:1' });
  await expect(authenticate(() => Promise.reject(broken))).rejects.toBe(broken);
});

test('a wrong password is not tried again', async () => {
  const rejection = new KafkaJSProtocolError(
    Object.assign(new Error('invalid credentials'), { type: 'SASL_AUTHENTICATION_FAILED', code: 58, retriable: false }),
  );
  await expect(authenticate(() => Promise.reject(rejection))).rejects.toMatchObject({
    name: 'KafkaJSSASLAuthenticationError',
    retriable: false,
  });
});

test('a broker that does not know the password is not believed', async () => {
  const answer = { original: '', r: 'another nonce', s: 'c2FsdA==', i: '4096' };
  await expect(authenticate((async () => answer) as never)).rejects.toMatchObject({
    name: 'KafkaJSSASLAuthenticationError',
  });
});
