import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';

const DAY_MS = 86_400_000;

/** Epoch ms. @param pem a chain that begins with the own certificate; a private key may come first */
export function expiryOf(pem: Buffer): number {
  return Date.parse(new X509Certificate(certificateIn(pem)).validTo);
}

function certificateIn(pem: Buffer): Buffer {
  const start = pem.indexOf('-----BEGIN CERTIFICATE-----');
  return start <= 0 ? pem : pem.subarray(start);
}

/**
 * Shows when the certificates expire that this process presents as a client. Reads the files again for each scrape, as
 * connections do; one that cannot be read has no series, and its connections fail.
 *
 * @param files by the server to which they are presented
 */
export function showClientCertificates(files: Readonly<Record<string, string | undefined>>, metrics: Registry): void {
  new Gauge({
    name: 'gateway_client_certificate_days_left',
    help: 'Days until a certificate expires with which the process authenticates itself; negative once it has',
    labelNames: ['server'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [server, file] of Object.entries(files)) {
        const expiry = file === undefined ? undefined : expiryOfFile(file);
        if (expiry !== undefined) this.set({ server }, (expiry - Date.now()) / DAY_MS);
      }
    },
  });
}

function expiryOfFile(file: string): number | undefined {
  try {
    return expiryOf(readFileSync(file));
  } catch {
    return undefined;
  }
}
