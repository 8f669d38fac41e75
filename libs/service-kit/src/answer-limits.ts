import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** From the beginning of an answer until it has left. 1 MiB then takes a line of 35 KB/s. */
export const ANSWER_TIMEOUT_MS = 30_000;

/** Of all answers of a listener that have ended and not left. The chart's smallest limit is 384 MiB. */
export const UNREAD_MAX_BYTES = 32 * 1024 * 1024;

/** How often connections are looked at, so that no answer needs a timer of its own. */
const CHECK_MS = 1_000;

export interface AnswerLimits {
  timeoutMs: number;
  unreadMaxBytes: number;
}

interface Answer {
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** When it was first seen being sent. */
  since?: number;
  /** What has not left of it. */
  unreadBytes: number;
}

/**
 * Wraps `listener` and cuts clients that do not read their answers: when an answer has not left `timeoutMs` after its
 * beginning, however busy the connection is, and when all unread answers together exceed `unreadMaxBytes`: then the
 * largest one's, the oldest of several. The time in which the listener prepares an answer does not count.
 */
export function limitAnswers(server: Server, listener: RequestListener, limits: AnswerLimits): RequestListener {
  /** In the order of their requests. */
  const answers = new Set<Answer>();
  let unreadBytes = 0;

  function weigh(answer: Answer, bytes: number): void {
    unreadBytes += bytes - answer.unreadBytes;
    answer.unreadBytes = bytes;
  }

  function cutLargest(): void {
    let largest: Answer | undefined;
    for (const one of answers) if (one.unreadBytes > (largest?.unreadBytes ?? 0)) largest = one;
    if (largest === undefined) return;
    weigh(largest, 0);
    largest.socket.destroy();
  }

  function cutUnread(): void {
    const now = performance.now();
    for (const answer of answers) {
      if (!answer.response.headersSent) continue;
      answer.since ??= now;
      if (now - answer.since >= limits.timeoutMs) answer.socket.destroy();
    }
  }

  server.once('listening', () => {
    const checks = setInterval(cutUnread, Math.min(CHECK_MS, limits.timeoutMs)).unref();
    server.once('close', () => clearInterval(checks));
  });

  return (request, response) => {
    const { socket } = request;
    const answer: Answer = { socket, response, unreadBytes: 0 };
    answers.add(answer);
    // The whole answer has been passed to the connection.
    response.once('prefinish', () => {
      if (socket.writableLength === 0) return;
      weigh(answer, socket.writableLength);
      while (unreadBytes > limits.unreadMaxBytes) cutLargest();
    });
    response.once('close', () => {
      answers.delete(answer);
      weigh(answer, 0);
    });
    listener(request, response);
  };
}
