import type { MongoClient } from 'mongodb';
import type { Logger, Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';
import { isLoginRefusal } from './driver-login';

/** What MongoDB says to the user of a client. */
export interface Login {
  /** False from a refused login until one is accepted. The connections that are open still work. */
  accepted(): boolean;
  /** For how long no connection has been open because logins are refused; 0 while one is. */
  lockedOutMs(): number;
}

/** Follows the logins of a client, from before it connects. */
export function followLogin(client: Pick<MongoClient, 'on'>): Login {
  const open = new Map<string, Set<number | string>>();
  let accepted = true;
  let lockedOutAtMs: number | undefined;

  const openAt = (address: string): Set<number | string> => {
    const found = open.get(address) ?? new Set();
    open.set(address, found);
    return found;
  };
  const isNoneOpen = (): boolean => [...open.values()].every(({ size }) => size === 0);
  client.on('connectionReady', ({ address, connectionId }) => {
    openAt(address).add(connectionId);
    accepted = true;
    lockedOutAtMs = undefined;
  });
  client.on('connectionClosed', (event) => {
    openAt(event.address).delete(event.connectionId);
    // Not in the driver's types.
    if (!isLoginRefusal((event as { error?: unknown }).error)) return;
    accepted = false;
    if (isNoneOpen()) lockedOutAtMs ??= performance.now();
  });
  // What is in use may still end its command, and is then closed.
  client.on('connectionPoolCleared', ({ address }) => void open.delete(address));
  client.on('connectionPoolClosed', ({ address }) => void open.delete(address));
  return {
    accepted: () => accepted,
    lockedOutMs: () => (lockedOutAtMs === undefined ? 0 : performance.now() - lockedOutAtMs),
  };
}

const LOOK_EVERY_MS = 1_000;
/** A restart reads the current password, so a process without a connection waits no longer than for a short fault. */
const LOCKED_OUT_MAX_MS = 10_000;

/**
 * Logs when logins begin to be refused and when they are accepted again, and ends the process when no connection is left.
 *
 * @param options.onFatal called once
 */
export function watchLogin(options: { login: Login; logger: Logger; onFatal: (error: Error) => void }): Repeating {
  const { login, logger, onFatal } = options;
  let wasAccepted = true;
  let ended = false;

  async function look(): Promise<void> {
    const isAccepted = login.accepted();
    if (!isAccepted && wasAccepted) {
      logger.error('MongoDB refuses new connections of this process: its password was changed, or its user removed');
    }
    if (isAccepted && !wasAccepted) logger.info('MongoDB accepts new connections of this process again');
    wasAccepted = isAccepted;
    if (ended || login.lockedOutMs() < LOCKED_OUT_MAX_MS) return;
    ended = true;
    onFatal(new Error(`MongoDB has refused the login for ${LOCKED_OUT_MAX_MS / 1_000} s, and no connection is left`));
  }

  return repeat({ name: 'look at the login', everyMs: LOOK_EVERY_MS, work: look, logger });
}
