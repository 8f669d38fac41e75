import type { IncomingMessage, RequestListener } from 'node:http';

const BAD_REQUEST = 400;

/**
 * What holds for every request and answer of a listener. Two `Host` headers are refused, as RFC 9112 (3.2) demands: Node
 * takes the first one, a proxy may take the last. So is a coding before the chunks: Node hands over the coded bytes, a proxy
 * may decode them. Browsers shall not guess the type of an answer.
 */
export function followRules(listener: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (hostsOf(request) <= 1 && isPlain(request)) return listener(request, response);
    response.writeHead(BAD_REQUEST, { Connection: 'close' }).end();
  };
}

function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

/** With a length, in chunks, or empty. */
function isPlain({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || coding.toLowerCase() === 'chunked';
}
