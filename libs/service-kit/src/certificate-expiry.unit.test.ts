import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { createCertificate } from '@gateway/testing';
import { showClientCertificates } from './certificate-expiry';
import { mongoCertificateOf } from './server-rules';

const folder = mkdtempSync(join(tmpdir(), 'gateway-client-certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a metric shows the days until each certificate of a client expires, also one that follows its key', async () => {
  const { cert, key } = await createCertificate();
  const [kafka, mongodb, broken] = ['kafka.pem', 'mongodb.pem', 'broken.pem'].map((name) => join(folder, name));
  writeFileSync(String(kafka), cert);
  writeFileSync(String(mongodb), `${key}${cert}`);
  writeFileSync(String(broken), 'no certificate');
  const metrics = new Registry();
  showClientCertificates({ kafka, mongodb, other: broken, none: undefined }, metrics);
  const days = (Date.parse(new X509Certificate(cert).validTo) - Date.now()) / 86_400_000;
  const shown = (await metrics.getSingleMetric('gateway_client_certificate_days_left')?.get())?.values ?? [];
  expect(shown.map(({ labels, value }) => [labels, Math.round(value)])).toEqual([
    [{ server: 'kafka' }, Math.round(days)],
    [{ server: 'mongodb' }, Math.round(days)],
  ]);
});

test('the address of MongoDB names the certificate', () => {
  expect(mongoCertificateOf('mongodb://db/?tls=true&TLSCertificateKeyFile=/run/m.pem')).toBe('/run/m.pem');
  expect(mongoCertificateOf('mongodb://db/?tls=true')).toBeUndefined();
});
