import { createSecureContext } from 'node:tls';
import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { authorityFile } from './called-address';
import { expiryOf } from './certificate-expiry';
import { ConfigurationError } from './configuration-error';
import { plainInternalPortSettings, unlessPlainIsAllowed } from './plain-internal-ports';
import type { ProductionRule } from './production';
import { textIn } from './production';
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

/** Settings of whoever calls internal ports. The scheme of an address says whether a caller uses TLS. */
export const internalTlsCallerSettings = {
  INTERNAL_TLS_CA_FILE: authorityFile("the gateway's own internal ports"),
  ...plainInternalPortSettings,
};

/** Settings of everything with internal ports, for {@link openInternalCertificate}. */
export const internalTlsSettings = {
  INTERNAL_TLS_CERT_FILE: Type.Optional(
    Type.String({
      description:
        'PEM certificate chain; with `INTERNAL_TLS_KEY_FILE`, all internal ports serve HTTPS, that of health and metrics too. Both are read again when they change',
    }),
  ),
  INTERNAL_TLS_KEY_FILE: Type.Optional(Type.String({ description: 'PEM private key of that certificate' })),
  ...internalTlsCallerSettings,
};

/** A rule for whoever has internal ports: in production they have a certificate. */
export function internalCertificateRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  return 'INTERNAL_TLS_CERT_FILE' in settings ? [unlessPlainIsAllowed(internalPortsHaveTls)] : [];
}

/** Identity tokens, payouts and custom values come through them. Where they listen may change; the rule does not. */
const internalPortsHaveTls: ProductionRule<object> = (config) =>
  textIn(config, 'INTERNAL_TLS_CERT_FILE') === undefined || textIn(config, 'INTERNAL_TLS_KEY_FILE') === undefined
    ? 'INTERNAL_TLS_CERT_FILE and INTERNAL_TLS_KEY_FILE are not set, so that internal ports have no TLS.'
    : undefined;

/** The protocols and the certificate of a TLS server. */
export function secureContextOf({ cert, key }: Certificate) {
  return tlsServerOptions({ cert, key });
}

/** Internal ports share a certificate. */
type CertifiedPort = 'public' | 'internal';
type Deps = Pick<ReloadedFilesOptions<Certificate>, 'logger' | 'metrics' | 'lookEveryMs'>;

/**
 * The certificate of the public port; undefined if that serves plain HTTP.
 *
 * @throws ConfigurationError if one of the two settings is missing, or the files are no pair
 */
export function openCertificate(
  { TLS_CERT_FILE, TLS_KEY_FILE }: { TLS_CERT_FILE?: string; TLS_KEY_FILE?: string },
  deps: Deps,
): ReloadedCertificate | undefined {
  return openPair({ TLS_CERT_FILE, TLS_KEY_FILE }, { port: 'public', name: 'certificate' }, deps);
}

/**
 * The same for all internal ports.
 *
 * @throws ConfigurationError if one of the two settings is missing, or the files are no pair
 */
export function openInternalCertificate(
  {
    INTERNAL_TLS_CERT_FILE,
    INTERNAL_TLS_KEY_FILE,
  }: { INTERNAL_TLS_CERT_FILE?: string; INTERNAL_TLS_KEY_FILE?: string },
  deps: Deps,
): ReloadedCertificate | undefined {
  const settings = { INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE };
  return openPair(settings, { port: 'internal', name: 'internal certificate' }, deps);
}

/** @param settings the certificate's and the key's, in this order */
function openPair(
  settings: Readonly<Record<string, string | undefined>>,
  { port, name }: { port: CertifiedPort; name: string },
  deps: Deps,
): ReloadedCertificate | undefined {
  const paths = Object.values(settings).filter((path) => path !== undefined);
  if (paths.length === 0) return undefined;
  if (paths.length === 1) {
    const names = Object.keys(settings).join(' and ');
    throw new ConfigurationError(`Configuration: ${names} belong together, and one is not set.`);
  }
  const certificate = openReloadedFiles({ name, paths, parse: parseCertificate, ...deps });
  showDaysLeft(port, certificate, deps.metrics);
  return certificate;
}

const shown = new WeakMap<Registry, Map<CertifiedPort, ReloadedCertificate>>();

/** All certificates of a registry share the gauge. */
function showDaysLeft(port: CertifiedPort, certificate: ReloadedCertificate, metrics: Registry): void {
  const others = shown.get(metrics);
  if (others !== undefined) return void others.set(port, certificate);
  const certificates = new Map([[port, certificate]]);
  shown.set(metrics, certificates);
  new Gauge({
    name: 'gateway_tls_certificate_days_left',
    help: 'Days until the certificate of the public port, or that of the internal ports, expires; negative once it has',
    labelNames: ['port'],
    registers: [metrics],
    collect() {
      for (const [port, { current }] of certificates) {
        this.set({ port }, (expiryOf(current.cert) - Date.now()) / DAY_MS);
      }
    },
  });
}

function parseCertificate([cert, key]: readonly Buffer[]): Certificate {
  if (cert === undefined || key === undefined) throw new Error('a file is missing');
  const certificate = { cert, key };
  // Throws if one of them is no PEM, or the key belongs to another certificate.
  createSecureContext(secureContextOf(certificate));
  expiryOf(cert);
  return certificate;
}
