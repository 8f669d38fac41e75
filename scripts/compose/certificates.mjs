/** Certificates of a trial: an authority of its own, and whom it signs. */
import { generate } from 'selfsigned';

const DAYS = 90;
const DAY_MS = 86_400_000;

/** @typedef {{ cert: string, key: string }} Certificate PEM */

/**
 * @param {string} name
 * @returns {Promise<Certificate>}
 */
export function createAuthority(name) {
  return create(`payment-gateway ${name}`, {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
}

/**
 * @param {readonly string[]} hosts names and IPv4 addresses of a server; the first one names the certificate
 * @param {Certificate} authority
 * @returns {Promise<Certificate>}
 */
export function createServerCertificate(hosts, authority) {
  const altNames = hosts.map((host) =>
    /^[\d.]+$/.test(host)
      ? { type: /** @type {const} */ (7), ip: host }
      : { type: /** @type {const} */ (2), value: host },
  );
  return create(hosts[0] ?? '', {
    ca: authority,
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  });
}

/**
 * @param {string} commonName
 * @param {Parameters<typeof generate>[1]} options
 * @returns {Promise<Certificate>}
 */
async function create(commonName, options) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + DAYS * DAY_MS),
    ...options,
  });
  return { cert, key };
}
