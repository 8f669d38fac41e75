import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TSchema } from '@sinclair/typebox';

const ROOT = join(__dirname, '..', '..');
/** Functions that declare settings with rules of their own, names that such settings have, and whole schemas. */
const DECLARES =
  '(secretText|secretFolder|ownKeyText|calledAddress(es)?|authorityFile)\\(|[A-Z]_(PASSWORD|SECRET|TOKEN|KEY|PASSWORDS_DIR|URLS?|URI|ENDPOINT): |export const settings = ';

/** A setting, and the settings that are declared beside it. */
export interface DeclaredSetting {
  readonly name: string;
  readonly schema: TSchema;
  readonly besides: readonly string[];
}

/** Every setting of the modules that declare schemas, secrets or addresses, found in the sources: no list can lack a new one. */
export function declaredSettings(): DeclaredSetting[] {
  const sources = ['libs/*.ts', 'services/*.ts', 'deploy/*.ts', ':!*.test.ts', ':!*.fixture.ts'];
  const files = execFileSync('git', ['grep', '--untracked', '-lE', DECLARES, '--', ...sources], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return files.trim().split('\n').flatMap(settingsOf);
}

function settingsOf(file: string): DeclaredSetting[] {
  const exported = Object.values(jest.requireActual<Record<string, unknown>>(join(ROOT, file)));
  return exported.flatMap((value) => {
    const settings = isRecord(value) && isRecord(value['properties']) ? value['properties'] : value;
    if (!isRecord(settings)) return [];
    const besides = Object.keys(settings);
    return Object.entries(settings).flatMap(([name, schema]) =>
      /^[A-Z][A-Z0-9_]+$/.test(name) && isRecord(schema) ? [{ name, schema: schema as TSchema, besides }] : [],
    );
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
