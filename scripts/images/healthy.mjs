/** The health check of a service's image: exits 0 if the service in this container is ready. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const TIMEOUT_MS = 3_000;
const ANYWHERE = ['0.0.0.0', '::'];

const { OPS_PORT, OPS_HOST, INTERNAL_HOST, INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_CA_FILE } = process.env;
const [first = ''] = (OPS_HOST || INTERNAL_HOST || '').split(',');
const host = first === '' || ANYWHERE.includes(first) ? '127.0.0.1' : first.trim();
const asked = { host, port: OPS_PORT, path: '/health/ready', timeout: TIMEOUT_MS, agent: /** @type {const} */ (false) };

// The certificate names the service as others reach it. Who answers here is this container.
const trust = {
  ...(INTERNAL_TLS_CA_FILE && { ca: readFileSync(INTERNAL_TLS_CA_FILE) }),
  checkServerIdentity: () => undefined,
};
const request = INTERNAL_TLS_CERT_FILE ? https.get({ ...asked, ...trust }) : http.get(asked);
request.once('response', (response) => {
  // Docker keeps the text: it names what is missing.
  response.pipe(process.stdout);
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
request.once('timeout', () => request.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
request.once('error', ({ message }) => {
  process.stdout.write(`${message}\n`);
  process.exitCode = 1;
});
