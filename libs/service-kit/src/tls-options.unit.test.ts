import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SecureVersion, TlsOptions } from 'node:tls';
import { connect, createServer } from 'node:tls';
import type { Certificate } from '@gateway/testing';
import { createCertificate } from '@gateway/testing';
import { tlsClientOptions, tlsServerOptions } from './tls-options';

let certificate: Certificate;
beforeAll(async () => {
  certificate = await createCertificate();
});

/** The protocol and suite on which both agree, or the code of the failure. */
async function agreed(server: TlsOptions, client: object): Promise<string> {
  const listening = createServer(server, (socket) => socket.end());
  listening.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  const outcome = await new Promise<string>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ...client }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
  });
  await new Promise((resolve) => listening.close(resolve));
  return outcome;
}

const own = (more: object = {}) => ({ ...tlsServerOptions(certificate), ...more });
const strict = () => tlsClientOptions({ ca: certificate.cert });
const version = (name: SecureVersion) => ({ minVersion: name, maxVersion: name });
const REFUSED = /^(ERR_SSL|ECONNRESET|EPROTO)/;
/** CBC, and RSA without forward secrecy. */
const OLD = ['ECDHE-RSA-AES128-SHA256', 'AES128-GCM-SHA256', 'AES256-SHA'];

test('TLS 1.3 is used where both have it, and 1.2 with forward secrecy elsewhere', async () => {
  expect(await agreed(own(), strict())).toMatch(/^TLSv1\.3 TLS_/);
  expect(await agreed(own(version('TLSv1.2')), strict())).toMatch(/^TLSv1\.2 ECDHE-.+(GCM|POLY1305)/);
});

test.each(OLD)('a server with %s alone is not talked to', async (ciphers) => {
  expect(await agreed({ ...certificate, ...version('TLSv1.2'), ciphers }, strict())).toMatch(REFUSED);
});

test.each(OLD)('a client with %s alone is not served', async (ciphers) => {
  expect(await agreed(own(), { ca: certificate.cert, ...version('TLSv1.2'), ciphers })).toMatch(REFUSED);
});

test('an unknown authority is refused', async () => {
  expect(await agreed(own(), tlsClientOptions())).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a server cannot make us shake hands again', async () => {
  let again = 0;
  const listening = createServer({ ...certificate, ...version('TLSv1.2') }, (socket) => {
    socket.on('error', () => socket.destroy()).on('data', () => socket.end());
    socket.renegotiate({}, () => (again += 1));
    socket.write('asked');
  });
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const { port } = listening.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, ...strict() });
  // OpenSSL's server gives up a client that does not want to.
  const end = new Promise((resolve) => client.once('error', resolve).once('end', resolve));
  client.on('data', () => client.write('and?'));
  await end;
  client.destroy();
  listening.close();
  expect(again).toBe(0);
});
