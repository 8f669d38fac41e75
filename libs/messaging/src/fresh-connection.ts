import type { InnerConnection } from 'kafkajs/src/network/connection';
import Connection from 'kafkajs/src/network/connection';

/** Of the size before each response. */
const SIZE_BYTES = 4;

let fresh = false;
const connecting = new WeakMap<InnerConnection, Promise<boolean>>();

/**
 * A connection of kafkajs 2.2.4 goes through many sockets, and what remains of one spoils the next: the beginning of a
 * response that was cut off stays in front of the next response, so nothing after it can be read (tulios/kafkajs#715);
 * a socket that ends late ends its successor; and two callers at once open two sockets. So each connect here begins with
 * nothing, and is shared by all who wait for it.
 */
export function freshConnections(): void {
  if (fresh) return;
  fresh = true;
  const { prototype } = Connection;
  const connect = prototype.connect;
  prototype.connect = function () {
    if (this.isConnected()) return Promise.resolve(true);
    const underWay = connecting.get(this);
    if (underWay !== undefined) return underWay;
    leaveSocket(this);
    const attempt = connect.call(this).finally(() => connecting.delete(this));
    connecting.set(this, attempt);
    return attempt;
  };
}

function leaveSocket(connection: InnerConnection): void {
  const { socket } = connection;
  if (socket !== undefined) {
    socket.removeAllListeners();
    // What goes wrong with it from here on does not matter.
    socket.on('error', () => undefined);
    socket.destroy();
  }
  Object.assign(connection, { chunks: [], bytesBuffered: 0, bytesNeeded: SIZE_BYTES });
}
