import { connect } from 'node:net';

const SILENCE_MS = 3_000;

/** Sends bytes, given as Latin-1. Resolves with all that the server sends until it closes, or is silent for 3 s. */
export function talk(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(text, 'latin1')));
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    socket.on('data', (data) => received.push(data));
    // A server that has refused the head may reset the connection while the body is on its way.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.once('close', () => resolve(Buffer.concat(received).toString('latin1')));
  });
}
