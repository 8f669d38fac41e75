/** The merchant of the tests: a server on this machine that callback-dispatcher reaches from its container. */
import { createServerCertificate } from './certificates.mjs';

/** A name without a dot, which is looked up in /etc/hosts first. */
export const MERCHANT = 'merchant';

/**
 * @param {import('./certificates.mjs').Certificate} authority
 * @returns {Promise<Record<string, string>>} by name of the file
 */
export async function merchantFiles(authority) {
  const { cert, key } = await createServerCertificate([MERCHANT, 'localhost', '127.0.0.1'], authority);
  return { 'merchant.crt': cert, 'merchant.key': key };
}

/**
 * @param {string[]} dispatchers containers that send callbacks
 * @param {string} authority path of its certificate
 * @returns {string} a Compose file: what the system needs for this merchant
 */
export function overlay(dispatchers, authority) {
  const addition = {
    environment: {
      CALLBACK_ALLOW_CIDRS: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16',
      NODE_EXTRA_CA_CERTS: '/run/merchants.pem',
    },
    extra_hosts: [`${MERCHANT}:host-gateway`],
    volumes: [`${authority}:/run/merchants.pem:ro`],
  };
  return JSON.stringify({ services: Object.fromEntries(dispatchers.map((name) => [name, addition])) });
}
