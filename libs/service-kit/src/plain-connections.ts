import type { Server, Socket } from 'node:net';

/** The first byte of a connection by TLS: a record of the handshake. No method of HTTP begins with it. */
const HANDSHAKE = 0x16;

/**
 * Lets an HTTPS server take HTTP on the same port, as the first byte of a connection says (ADR 0084). A connection
 * that says nothing ends after `timeoutMs`.
 */
export function alsoTakePlain(server: Server, timeoutMs: number): void {
  const [beginTls, ...others] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (beginTls === undefined || others.length > 0) throw new Error('broken invariant: one reader of a connection');
  server.off('connection', beginTls).on('connection', (socket: Socket) => {
    const giveUp = () => socket.destroy();
    socket.setTimeout(timeoutMs, giveUp).on('error', giveUp);
    socket.once('data', (bytes) => {
      socket.pause().off('error', giveUp).off('timeout', giveUp).setTimeout(0);
      socket.unshift(bytes);
      // Node's TLS takes what was read, and goes on reading by itself.
      if (bytes[0] === HANDSHAKE) return void beginTls.call(server, socket);
      // To Node's server, a connection is one of HTTP when its handshake is over.
      server.emit('secureConnection', socket);
      socket.resume();
    });
  });
}
