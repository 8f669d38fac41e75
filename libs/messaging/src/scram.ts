import type { AuthenticationProviderArgs, Mechanism } from 'kafkajs';
import scram512 from 'kafkajs/src/broker/saslAuthenticator/scram512';

/**
 * SASL SCRAM-SHA-512, by kafkajs. It takes every fault during the exchange for a wrong password, which ends a consumer
 * for good. Here a connection that breaks meanwhile, as when a broker dies, stays what it is: worth another try.
 */
export function scram(user: { username: string; password: string }): Mechanism {
  return { mechanism: 'scram-sha-512', authenticationProvider: (connection) => authenticator(user, connection) };
}

function authenticator(user: { username: string; password: string }, connection: AuthenticationProviderArgs) {
  let fault: unknown;
  const saslAuthenticate: AuthenticationProviderArgs['saslAuthenticate'] = async (exchange) => {
    try {
      return await connection.saslAuthenticate(exchange);
    } catch (error) {
      fault = error;
      throw error;
    }
  };
  const exchange = scram512(user)({ ...connection, saslAuthenticate });
  return {
    async authenticate(): Promise<void> {
      try {
        await exchange.authenticate();
      } catch (error) {
        throw isTransient(fault) ? fault : error;
      }
    },
  };
}

/** kafkajs marks faults of connections. */
function isTransient(fault: unknown): boolean {
  return fault instanceof Error && (fault as { retriable?: boolean }).retriable === true;
}
