import { get } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createCertificate, startHttpsServer } from './https-server';

test('only clients that know its certificate trust the HTTPS server', async () => {
  const certificate = await createCertificate();
  const server = await startHttpsServer(certificate, (_request, response) => response.end('OK'));
  const answered = get(server.url, { ca: certificate.cert, agent: false });
  const [response] = (await once(answered, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  await expect(once(get(server.url, { agent: false }), 'response')).rejects.toThrow('self-signed');
  await server.close();
});
