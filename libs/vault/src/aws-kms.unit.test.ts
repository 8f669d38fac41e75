import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@gateway/contracts';
import type { Certificate, HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer } from '@gateway/testing';
import { openAwsKms } from './aws-kms';

const KEY = Buffer.alloc(32, 'k');

let certificate: Certificate;
let server: HttpsServer;
let directory: string;

beforeAll(async () => {
  Object.assign(process.env, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  certificate = await createCertificate();
  server = await startHttpsServer(certificate, (_request, response) => {
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ KeyId: 'wrapping', Plaintext: KEY.toString('base64') }));
  });
  directory = mkdtempSync(join(tmpdir(), 'gateway-kms-'));
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

async function unwrapped(authority: Certificate): Promise<Buffer> {
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const kms = await openAwsKms({ keyId: 'wrapping', endpoint: server.url, caFile, timeoutMs: 5_000 });
  try {
    return (await kms.unwrap({ setting: 'CARD_KEYS', id: 'k1' }, new Secret(Buffer.from('wrapped')))).expose();
  } finally {
    kms.close();
  }
}

test('AWS KMS is trusted by its own authority alone', async () => {
  expect(await unwrapped(certificate)).toEqual(KEY);
  await expect(createCertificate('other').then(unwrapped)).rejects.toThrow(/does not unwrap key "k1".*self-signed/);
});
