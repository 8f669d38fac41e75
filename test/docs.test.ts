import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestCallers } from '@gateway/testing';
import { createCallers, createCertificate } from '@gateway/testing';
import { testSettings } from '../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import { documents, root } from './documents/blocks';
import { build } from './support/processes';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { System } from './support/system';
import { startSystem } from './support/system';

interface Metric {
  name: string;
  type: string;
  help: string;
  services: string[];
}

/** An address without a listener. */
const NOBODY = 'http://127.0.0.1:9';

let files: Record<string, string>;
let merchant: Merchant;
let system: System;
let callers: TestCallers;

beforeAll(async () => {
  files = testSettings();
  callers = createCallers();
  await build();
  // With everything that has metrics of its own.
  const settings = {
    PAYOUT_BANK: 'iso20022',
    CALLERS_FILE: callers.file,
    OTLP_URL: NOBODY,
    ...(await certificateFiles()),
    ...files,
  };
  system = await startSystem('docs', { withPayouts: true, settings });
  merchant = await startMerchant();
  await system.startThreeds();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
}, 180_000);

afterAll(async () => {
  await system.stop();
  await merchant.close();
  rmSync(dirname(files['ISO20022_OUTBOX_DIR'] ?? ''), { recursive: true, force: true });
  callers.remove();
});

/** Beside the callers, so that they go together. */
async function certificateFiles(): Promise<Record<string, string>> {
  const { cert, key } = await createCertificate();
  const [certFile, keyFile] = [`${callers.file}.cert.pem`, `${callers.file}.key.pem`];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const internal = {
    INTERNAL_TLS_CERT_FILE: certFile,
    INTERNAL_TLS_KEY_FILE: keyFile,
    INTERNAL_TLS_CA_FILE: certFile,
  };
  return { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, ...internal };
}

/** The metrics of all services but those of the process, by name. */
async function servedMetrics(): Promise<Metric[]> {
  const metrics = new Map<string, Metric>();
  for (const page of await system.metrics()) {
    const service = /service="([^"]+)"/.exec(page)?.[1] ?? 'simulator';
    for (const [, name = '', help = '', type = ''] of page.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\w+)$/gm)) {
      if (/^(nodejs|process)_/.test(name)) continue;
      const metric = metrics.get(name) ?? { name, type, help, services: [] };
      metrics.set(name, { ...metric, services: [...metric.services, service].toSorted() });
    }
  }
  return [...metrics.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** With `UPDATE_DOCS` set it writes the files, with the metrics too, as `npm run docs` cannot. */
test('docs and schemas match the code and the running services', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-docs-'));
  const metrics = join(directory, 'metrics.json');
  writeFileSync(metrics, JSON.stringify(await servedMetrics()));
  const check = process.env['UPDATE_DOCS'] === undefined ? ['--check'] : [];
  const run = promisify(execFile)(process.execPath, ['scripts/docs.mjs', ...check, '--metrics', metrics], {
    cwd: root,
  });
  await expect(run).resolves.toMatchObject({ stderr: '' });
  rmSync(directory, { recursive: true });
});

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of a Markdown file, as GitHub names them. */
function anchors(path: string): string[] {
  return Array.from(readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm), ([, heading = '']) => slug(heading));
}

test('no document has the marks of a merge that nobody finished', () => {
  // Prettier takes the last of them for quotes in quotes.
  const marks = /^(<{7}|>{7}|(> ){7})/m;
  expect(documents().filter((document) => marks.test(readFileSync(join(root, document), 'utf8')))).toEqual([]);
});

test('docs/security.md names the test of each attack, and every attack of the security suite', () => {
  const table =
    readFileSync(join(root, 'docs/security.md'), 'utf8').split('## What is tried')[1]?.split('\n## ')[0] ?? '';
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:-|attack )/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter((row) => !/\]\(\.\.\/[^)]+\.ts\)/.test(row))).toEqual([]);
  const attacks = readdirSync(join(root, 'test/security'), { recursive: true, encoding: 'utf8' });
  const suites = attacks.filter((path) => path.startsWith('attacks/') || path.endsWith('production.run.ts'));
  expect(suites.length).toBeGreaterThan(10);
  expect(suites.filter((path) => !table.includes(`(../test/security/${path})`))).toEqual([]);
});

test('every link between documents points to an existing file and heading', () => {
  const broken = documents().flatMap((document) => {
    const path = join(root, document);
    const links = readFileSync(path, 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
    return Array.from(links).flatMap(([link, file = '', anchor]) => {
      const target = file === '' ? path : join(dirname(path), file);
      const exists = existsSync(target) && (anchor === undefined || anchors(target).includes(anchor));
      return exists ? [] : [`${document}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});
