import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate, openCalled } from '@gateway/testing';
import { EXAMPLE_ANSWERS, exampleCalls } from './example-answers.fixture';

const certificate = createCertificate();
const directory = mkdtempSync(join(tmpdir(), 'gateway-kms-'));
const counterpart = openCalled(async (url) => {
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, (await certificate).cert);
  Object.assign(process.env, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  return exampleCalls(url, caFile);
}, certificate);
afterAll(async () => {
  await counterpart.close();
  rmSync(directory, { recursive: true });
});

type Name = keyof typeof EXAMPLE_ANSWERS;
const NAMES = Object.keys(EXAMPLE_ANSWERS) as Name[];

test.each(NAMES)(
  'the answer of %s costs in proportion to its length, and none makes its reader throw',
  async (name) => {
    expect(await counterpart.faultsOfReading(EXAMPLE_ANSWERS[name], name)).toEqual([]);
  },
);
