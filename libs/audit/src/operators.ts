import type { IncomingMessage } from 'node:http';
import { hostname, userInfo } from 'node:os';
import { operatorFrom } from '@gateway/service-kit';
import type { Operator } from './entry';

/** Who runs this command line, by its identity, and on which machine. @throws ConfigurationError without an identity */
export function commandLineOperator(env: Record<string, string | undefined>): Operator {
  return { name: operatorFrom(env).name, from: machine() };
}

/**
 * Who provisions: the operator of the environment, or `provision` for a deployment's job without an identity. The user
 * that MongoDB has authenticated is in the entry anyway.
 */
export function provisioner(env: Record<string, string | undefined>): Operator {
  const { IDENTITY_TOKEN: token = env['IDENTITY_TOKEN_FILE'], CALLERS_FILE: callers } = env;
  return token && callers ? commandLineOperator(env) : { name: 'provision', from: machine() };
}

function machine(): string {
  return `${userInfo().username}@${hostname()}`;
}

/** Who sent a request to an internal port. */
export function requestOperator({ name }: { name: string }, { socket }: Pick<IncomingMessage, 'socket'>): Operator {
  return { name, from: socket.remoteAddress ?? 'a closed connection' };
}
