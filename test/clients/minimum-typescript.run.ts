import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocument } from '../documents/blocks';
import { newProject, packClient, run, succeed, TYPED_PROGRAM } from '../support/packed-client';

/** A compiler beside the project's own would take its place in node_modules/.bin, so this downloads it. */
const [, MINIMUM = ''] = /TypeScript (\d+\.\d+) and later/.exec(readDocument('libs/merchant-client/README.md')) ?? [];

let work: string;
let tarball: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'gateway-minimum-'));
  tarball = await packClient(work);
}, 60_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

test.each([
  ['CommonJS', 'commonjs.cts', 'node16', 'node16'],
  ['ES modules', 'esm.mts', 'node16', 'node16'],
  ['CommonJS, resolved as before exports', 'plain.ts', 'commonjs', 'node'],
])(
  'the oldest TypeScript that the README names compiles a shop: %s',
  async (_what, file, module, moduleResolution) => {
    const { imports, uses, complete } = TYPED_PROGRAM;
    const compilerOptions = { strict: true, noEmit: true, target: 'es2022', types: [], module, moduleResolution };
    const cwd = newProject(work, file, {
      [file]: imports + uses + complete,
      'tsconfig.json': JSON.stringify({ compilerOptions, files: [file] }),
    });
    await succeed(run('npm', ['install', '--no-audit', '--no-fund', tarball, `typescript@${MINIMUM}`], cwd));
    const { version } = JSON.parse(readFileSync(join(cwd, 'node_modules/typescript/package.json'), 'utf8')) as {
      version: string;
    };
    expect(version).toMatch(new RegExp(`^${MINIMUM}\\.`));
    expect(await run(join(cwd, 'node_modules', '.bin', 'tsc'), ['-p', '.'], cwd)).toEqual({ code: 0, output: '' });
  },
  120_000,
);
