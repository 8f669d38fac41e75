import type { LookupFunction, Socket } from 'node:net';
import { Agent } from 'node:https';
import { tlsClientOptions } from '@gateway/service-kit';

/** Shorter than servers usually keep an idle connection, so that a callback does not hit a closing one. */
const IDLE_MS = 4_000;
const IDLE_SOCKETS_MAX = 512;

export const CONNECT_TIMED_OUT = 'CONNECT_TIMED_OUT';

const KEEP_ALIVE_DELAY_MS = 1_000;

/** The agent sets it after every call: a system call that changes nothing. */
function keepAliveForGood(socket: Socket): void {
  socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  socket.setKeepAlive = () => socket;
}

/** Kept-alive connections to merchants, each opened within a time-out and to an address that `lookup` allows. */
export class CallbackAgent extends Agent {
  readonly #connectTimeoutMs: number;
  /** The address last tried for a connection, also for a failed one. */
  readonly #dialled = new WeakMap<object, string>();

  constructor(options: { lookup: LookupFunction; connectTimeoutMs: number; ca?: string | undefined }) {
    const { lookup, connectTimeoutMs, ca } = options;
    super({
      keepAlive: true,
      timeout: IDLE_MS,
      maxFreeSockets: IDLE_SOCKETS_MAX,
      lookup,
      autoSelectFamily: true,
      ...tlsClientOptions(ca === undefined ? {} : { ca }),
    });
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(...args) as Socket;
    const giveUp = (): void => {
      socket.destroy(Object.assign(new Error('no connection in time'), { code: CONNECT_TIMED_OUT }));
    };
    const timer = setTimeout(giveUp, this.#connectTimeoutMs);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      keepAliveForGood(socket);
    });
    socket.once('close', () => clearTimeout(timer));
    socket.on('connectionAttempt', (address: string) => this.#dialled.set(socket, address));
    return socket;
  }

  addressOf(socket: object | null | undefined): string | undefined {
    return socket ? this.#dialled.get(socket) : undefined;
  }
}
