import type { LookupFunction, Socket } from 'node:net';
import { Agent } from 'node:https';
import { tlsClientOptions } from '@gateway/service-kit';
import type { CallbackTunnels } from './callback-tunnels';

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

type Connecting = Parameters<Agent['createConnection']>;

/** Kept-alive connections to merchants, each opened within a time-out and to an address that `lookup` allows. */
export class CallbackAgent extends Agent {
  readonly #connectTimeoutMs: number;
  readonly #tunnels: CallbackTunnels | undefined;
  /** The address last tried for a connection, also for a failed one. */
  readonly #dialled = new WeakMap<object, string>();

  constructor(options: {
    lookup: LookupFunction;
    connectTimeoutMs: number;
    ca?: string | undefined;
    /** In place of `lookup`. */
    tunnels?: CallbackTunnels | undefined;
  }) {
    const { lookup, connectTimeoutMs, ca, tunnels } = options;
    super({
      keepAlive: true,
      timeout: IDLE_MS,
      maxFreeSockets: IDLE_SOCKETS_MAX,
      lookup,
      autoSelectFamily: true,
      ...tlsClientOptions(ca === undefined ? {} : { ca }),
    });
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#tunnels = tunnels;
  }

  override createConnection(...[options, onConnection]: Connecting): ReturnType<Agent['createConnection']> {
    const until = performance.now() + this.#connectTimeoutMs;
    if (this.#tunnels === undefined) return this.#secured(options, until);
    this.#throughTunnel(this.#tunnels, options, until).then(
      (socket) => onConnection?.(null, socket),
      (error: Error) => onConnection?.(error, undefined as never),
    );
    return undefined;
  }

  async #throughTunnel(tunnels: CallbackTunnels, options: Connecting[0], until: number): Promise<Socket> {
    const host = await inTime(tunnels.targetOf(String(options.host)), until);
    const tunnel = await tunnels.open({ host, port: Number(options.port) }, leftMs(until));
    const socket = this.#secured({ ...options, socket: tunnel } as Connecting[0], until);
    this.#dialled.set(socket, host);
    return socket;
  }

  #secured(options: Connecting[0], until: number): Socket {
    const socket = super.createConnection(options) as Socket;
    const timer = setTimeout(() => socket.destroy(late()), leftMs(until));
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

function late(): Error {
  return Object.assign(new Error('no connection in time'), { code: CONNECT_TIMED_OUT });
}

function leftMs(until: number): number {
  return Math.max(1, until - performance.now());
}

/** Look-ups of the system have no bound of their own. */
function inTime<T>(work: Promise<T>, until: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), leftMs(until));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
