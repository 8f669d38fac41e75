import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Document } from './documented-api';
import { closed } from './documented-api';
import { installPythonPackages } from './python-packages';

const run = promisify(execFile);
const root = join(__dirname, '..', '..');
const OUTPUT_BYTES_MAX = 16 * 1_048_576;

/** The folder of Schemathesis and what it needs, for PYTHONPATH. */
export const installSchemathesis = (): Promise<string> => installPythonPackages('schemathesis-4.32.5');

export interface SchemathesisOptions {
  packages: string;
  document: Document;
  url: string;
  /** `examples,coverage` sends the same requests each time, however long it takes; `fuzzing` goes on until it has to stop. */
  phases: 'examples,coverage' | 'fuzzing';
  /** Schemathesis stops after so long. */
  forMs?: number;
  timeoutMs: number;
}

/** What it looks for: faults of the server, and answers that the document does not describe. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
];

/**
 * Lets Schemathesis send examples, edge cases and generated requests, right ones and wrong ones. The same seed brings the
 * same requests. It gets the document with closed objects, so that a field that is not documented is a failure.
 *
 * @returns its report; rejects with it in the message if it found something
 */
export async function runSchemathesis(options: SchemathesisOptions): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-schemathesis-'));
  const { packages, document, url, phases, forMs, timeoutMs } = options;
  try {
    const file = join(directory, 'openapi.json');
    writeFileSync(file, JSON.stringify(withClosedAnswers(document)));
    const args = [
      ...['-m', 'schemathesis.cli', 'run', file, '--url', url, '--checks', CHECKS.join(',')],
      ...['--seed', '1', '--workers', '1', '--no-color', '--request-timeout', '40'],
      ...(forMs === undefined ? [] : ['--max-time', String(forMs / 1_000)]),
      ...['--generation-database', 'none', '--phases', phases],
    ];
    const env = {
      ...process.env,
      PYTHONPATH: [packages, join(root, 'test', 'openapi')].join(':'),
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
    };
    const { stdout } = await run('python3', args, {
      cwd: directory,
      env,
      timeout: timeoutMs,
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`Schemathesis:\n${stdout}\n${stderr}`, { cause: error });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Requests may have unknown fields; answers may not. */
function withClosedAnswers(document: Document): object {
  const { schemas } = document.components;
  const answers = Object.entries(schemas).map(([title, schema]) => [
    title,
    /Request(With|$)|^CustomParameters$/.test(title) ? schema : closed(schema),
  ]);
  return {
    ...document,
    webhooks: {},
    components: { ...document.components, schemas: Object.fromEntries(answers) as object },
  };
}
