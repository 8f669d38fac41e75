import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToldCounterpart } from '@gateway/testing';
import { createCertificate, faultsOfReading, startCounterpart } from '@gateway/testing';
import { EXAMPLE_ANSWERS, exampleCalls } from './example-answers.fixture';

let counterpart: ToldCounterpart;
let example: Awaited<ReturnType<typeof exampleCalls>>;
let directory: string;
beforeAll(async () => {
  const certificate = await createCertificate();
  counterpart = await startCounterpart(certificate);
  directory = mkdtempSync(join(tmpdir(), 'gateway-kms-'));
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
  Object.assign(process.env, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  example = await exampleCalls(counterpart.url, caFile);
});
afterAll(async () => {
  example.close();
  await counterpart.close();
  rmSync(directory, { recursive: true });
});

type Name = keyof typeof EXAMPLE_ANSWERS;
const NAMES = Object.keys(EXAMPLE_ANSWERS) as Name[];

test.each(NAMES)(
  'the answer of %s costs in proportion to its length, and none makes its reader throw',
  async (name) => {
    expect(await faultsOfReading(counterpart, EXAMPLE_ANSWERS[name], example.calls[name])).toEqual([]);
  },
);
