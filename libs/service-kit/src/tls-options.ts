import { constants } from 'node:crypto';

/**
 * TLS 1.3, whose suites all have forward secrecy and authenticated encryption, or those of TLS 1.2 that have both:
 * Mozilla's list "intermediate" without DHE.
 */
const SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Nobody needs a second handshake, and a peer could ask for one again and again. Node bounds that for servers alone. */
const ONE_HANDSHAKE = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

const PROTOCOL = { minVersion: 'TLSv1.2', ciphers: SUITES, ...ONE_HANDSHAKE } as const;

interface Identity {
  cert: string | Buffer;
  key: string | Buffer;
}

/** Of every connection that this process opens. @param parties `ca`, whom it trusts in place of Node's authorities, and who it is */
export function tlsClientOptions(parties: { ca?: string | Buffer } & Partial<Identity> = {}) {
  return { ...PROTOCOL, ...parties, rejectUnauthorized: true };
}

/** Of every port that this process opens. */
export function tlsServerOptions({ cert, key }: Identity) {
  return { ...PROTOCOL, cert, key };
}
