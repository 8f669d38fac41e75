import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

type Direction = 'request' | 'answer';

/** Where a connection breaks: after so many bytes of a direction, orderly (FIN) or not (RST). */
export interface Cut {
  direction: Direction;
  bytes: number;
  how: 'fin' | 'rst';
}

/** TCP between a client and the gateway. It breaks a connection where a test wants it. */
export interface CuttingProxy {
  readonly url: string;
  /** Bytes of each direction since the last {@link arm}. */
  readonly passed: Readonly<Record<Direction, number>>;
  /** Connections that it has broken. */
  readonly cuts: number;
  /** Breaks the connection on which the bytes from now on come to the first cut, from then on to the second, and so on. */
  arm(...cuts: Cut[]): void;
  close(): Promise<void>;
}

/** Of the same length as the header's own name. */
const DROPPED = 'x-dropped-key-x';

/** @param dropsKeys the gateway gets requests without their Idempotency-Key */
export async function startCuttingProxy(port: number, { dropsKeys = false } = {}): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const passed = { request: 0, answer: 0 };
  let armed: Cut[] = [];
  let cuts = 0;

  function reset(): void {
    passed.request = 0;
    passed.answer = 0;
  }

  function pass(direction: Direction, chunk: Buffer, from: Socket, to: Socket): void {
    const [cut] = armed;
    const room = cut?.direction === direction ? cut.bytes - passed[direction] : Infinity;
    passed[direction] += chunk.length;
    if (cut === undefined || chunk.length < room) return void to.write(chunk);
    armed.shift();
    cuts += 1;
    reset();
    from.pause();
    // What is before the cut arrives.
    to.write(chunk.subarray(0, room), () => {
      for (const socket of [from, to]) {
        if (cut.how === 'rst') socket.resetAndDestroy();
        else socket.destroy();
      }
    });
  }

  const server = createServer((client) => {
    const gateway = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => pass('request', dropsKeys ? withoutKey(chunk) : chunk, client, gateway));
    gateway.on('data', (chunk) => pass('answer', chunk, gateway, client));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    get cuts() {
      return cuts;
    },
    arm(...next) {
      armed = next;
      reset();
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function withoutKey(chunk: Buffer): Buffer {
  return Buffer.from(chunk.toString('latin1').replace(/^idempotency-key(?=:)/im, DROPPED), 'latin1');
}
