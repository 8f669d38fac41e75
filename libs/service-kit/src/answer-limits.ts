import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection whose answers have not left. Node handles requests that a client sends together at once, and
 * keeps their answers until the client reads them. Clients that pipeline send about ten.
 */
export const UNANSWERED_MAX = 16;

/** From the beginning of an answer until it has left. 1 MiB then takes a line of 35 KB/s. */
export const ANSWER_TIMEOUT_MS = 30_000;

/** How often connections are looked at, so that no answer needs a timer of its own. */
const CHECK_MS = 1_000;

interface Connection {
  /** In the order in which they leave. */
  readonly unanswered: Set<ServerResponse>;
  /** The first of them, once it is being sent. */
  sending?: { readonly answer: ServerResponse; readonly since: number };
}

/**
 * Passes requests on to `listener`, and cuts clients that do not read their answers: beyond {@link UNANSWERED_MAX}, and
 * when an answer has not left `timeoutMs` after its beginning, however busy the connection is. The time in which the
 * listener prepares an answer does not count, nor the time in which an answer waits for those before it.
 */
export function limitAnswers(server: Server, listener: RequestListener, timeoutMs: number): void {
  const connections = new Map<Socket, Connection>();

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { unanswered: new Set() };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    return connection;
  }

  server.on('request', (request, response) => {
    const { socket } = request;
    const { unanswered } = connectionOf(socket);
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
    // Node still hands over what it has read from a destroyed connection.
    if (unanswered.size > UNANSWERED_MAX) socket.destroy();
    else listener(request, response);
  });

  function cutUnread(): void {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const [answer] = connection.unanswered;
      if (answer?.headersSent !== true) continue;
      if (connection.sending?.answer !== answer) connection.sending = { answer, since: now };
      else if (now - connection.sending.since >= timeoutMs) socket.destroy();
    }
  }

  server.once('listening', () => {
    const checks = setInterval(cutUnread, Math.min(CHECK_MS, timeoutMs)).unref();
    server.once('close', () => clearInterval(checks));
  });
}
