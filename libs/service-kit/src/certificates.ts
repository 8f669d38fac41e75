import { createSecureContext } from 'node:tls';
import { Type } from '@sinclair/typebox';
import { Gauge } from 'prom-client';
import { expiryOf } from './certificate-expiry';
import { ConfigurationError } from './configuration-error';
import type { ReloadedFiles, ReloadedFilesOptions } from './reloaded-files';
import { openReloadedFiles } from './reloaded-files';
import { tlsServerOptions } from './tls-options';

const DAY_MS = 86_400_000;

/** A server's certificate chain and private key, as PEM. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
}

/** A certificate that operators may replace while the service runs. */
export type ReloadedCertificate = ReloadedFiles<Certificate>;

/** Settings of services with a public port, for {@link openCertificate}. */
export const tlsSettings = {
  TLS_CERT_FILE: Type.Optional(
    Type.String({
      description:
        'PEM certificate chain; with `TLS_KEY_FILE`, the public port serves HTTPS itself. Both are read again when they change',
    }),
  ),
  TLS_KEY_FILE: Type.Optional(Type.String({ description: 'PEM private key of that certificate' })),
};

/** The protocols and the certificate of a TLS server. */
export function secureContextOf({ cert, key }: Certificate) {
  return tlsServerOptions({ cert, key });
}

/**
 * The certificate in the settings; undefined if the public port serves plain HTTP.
 *
 * @throws ConfigurationError if one of the two settings is missing, or the files are no pair
 */
export function openCertificate(
  { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: { TLS_CERT_FILE?: string; TLS_KEY_FILE?: string },
  deps: Pick<ReloadedFilesOptions<Certificate>, 'logger' | 'metrics' | 'lookEveryMs'>,
): ReloadedCertificate | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new ConfigurationError('Configuration: TLS_CERT_FILE and TLS_KEY_FILE belong together, and one is not set.');
  }
  const certificate = openReloadedFiles({
    name: 'certificate',
    paths: [certFile, keyFile],
    parse: parseCertificate,
    ...deps,
  });
  new Gauge({
    name: 'gateway_tls_certificate_days_left',
    help: 'Days until the certificate of the public port expires; negative once it has',
    registers: [deps.metrics],
    collect() {
      this.set((expiryOf(certificate.current.cert) - Date.now()) / DAY_MS);
    },
  });
  return certificate;
}

function parseCertificate([cert, key]: readonly Buffer[]): Certificate {
  if (cert === undefined || key === undefined) throw new Error('a file is missing');
  const certificate = { cert, key };
  // Throws if one of them is no PEM, or the key belongs to another certificate.
  createSecureContext(secureContextOf(certificate));
  expiryOf(cert);
  return certificate;
}
