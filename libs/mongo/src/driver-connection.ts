import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** What we use of the driver's connection. */
interface DriverConnection {
  closed: boolean;
  readonly socket: Socket;
  cleanup(error: Error): void;
  destroy(): void;
  writeCommand(command: { toBin(): Promise<Uint8Array[]> }, options: { agreedCompressor: 'none' }): Promise<void>;
}

/** The driver does not export it. */
export const { Connection } = createRequire(__filename)('mongodb/lib/cmap/connection') as {
  Connection: { prototype: DriverConnection; new (socket: Socket, options: object): DriverConnection };
};

const { cleanup } = Connection.prototype;

/**
 * Ends a command that waits for room in the buffer of a socket which the driver destroys. The driver (7.8) waits for
 * `drain` or `error`, and destroys the socket without an error, so a large command on a connection to a dead primary
 * never ended: behind it, all later inserts or updates of the same kind waited for ever.
 */
Connection.prototype.cleanup = function endPendingWrites(error) {
  const wasClosed = this.closed;
  cleanup.call(this, error);
  if (!wasClosed && this.socket.listenerCount('drain') > 0) this.socket.emit('error', error);
};
