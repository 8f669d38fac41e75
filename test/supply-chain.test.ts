import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callScript, callScriptIn } from './support/call-script';

const root = join(__dirname, '..');
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));

interface LockEntry {
  version?: string;
  integrity?: string | undefined;
  resolved?: string;
  link?: boolean;
  [field: string]: unknown;
}
interface Lock {
  lockfileVersion: number;
  packages: Record<string, LockEntry>;
}
const lock = readJson('package-lock.json') as Lock;
const { allowScripts } = readJson('package.json') as { allowScripts: Record<string, boolean> };

describe('package-lock.json', () => {
  const problemsOf = (changed: Lock) =>
    callScript<string[]>('supply-chain/lockfile.mjs', 'problemsOf', changed, allowScripts);
  const withEntry = (path: string, entry: LockEntry): Lock => ({
    ...lock,
    packages: { ...lock.packages, [path]: { ...lock.packages[path], ...entry } },
  });
  const AJV = 'node_modules/ajv-formats';

  test('has a hash for everything, names no source, and no unknown install script', async () => {
    expect(await problemsOf(lock)).toEqual([]);
  });

  test.each<[string, LockEntry, string]>([
    ['a package without a hash', { integrity: undefined }, 'has no SHA-512 integrity'],
    [
      'an optional package of our platform without a hash',
      { integrity: undefined, optional: true, os: ['linux'] },
      'has no SHA-512',
    ],
    ['a package with a weak hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has no SHA-512 integrity'],
    ['a package with half a hash', { integrity: 'sha512-AAAA' }, 'has no SHA-512 integrity'],
    ['an address over http', { resolved: 'http://packages.example/ajv-formats.tgz' }, 'comes from elsewhere'],
    ['an address over https', { resolved: 'https://packages.example/ajv-formats.tgz' }, 'comes from elsewhere'],
    ['a repository', { resolved: 'git+ssh://git@git.example/a/b.git#1234567' }, 'comes from elsewhere'],
    ['a folder outside', { resolved: '../elsewhere', link: true }, 'comes from elsewhere'],
    ['a new install script', { hasInstallScript: true }, 'has an install script'],
  ])('with %s is refused', async (_what, entry, problem) => {
    const problems = await problemsOf(withEntry(AJV, entry));
    expect(problems).toContainEqual(expect.stringContaining(`${AJV} ${problem}`));
  });

  test('may lack the hash of an optional package for another platform', async () => {
    const foreign = { integrity: undefined, optional: true, os: ['darwin'], cpu: ['arm64'] };
    expect(await problemsOf(withEntry(AJV, foreign))).toEqual([]);
  });
});

describe('advisories', () => {
  const advisory = { url: 'https://advisories.example/GHSA-aaaa', name: 'left', title: 'Breaks', severity: 'high' };
  const report = { vulnerabilities: { left: { via: [advisory] }, right: { via: ['left', advisory] } } };
  const accepted = { id: 'GHSA-aaaa', package: 'left', reason: 'not reachable', expires: '2026-02-01' };

  const problemsOf = (found: object, policy: object[]) =>
    callScript<string[]>('supply-chain/advisories.mjs', 'problemsOf', found, policy, '2026-01-01');

  test.each<[string, object, object[], string[]]>([
    ['none', { vulnerabilities: {} }, [], []],
    ['one that is not accepted, however many bring it', report, [], ['left has GHSA-aaaa (high): Breaks.']],
    ['one that is accepted', report, [accepted], []],
    [
      'one whose acceptance has expired',
      report,
      [{ ...accepted, expires: '2026-01-01' }],
      ['left has GHSA-aaaa (high): Breaks.'],
    ],
    [
      'one that is accepted for another package',
      report,
      [{ ...accepted, package: 'right' }],
      [
        'left has GHSA-aaaa (high): Breaks.',
        'GHSA-aaaa is accepted for right, and no locked version has it: remove it.',
      ],
    ],
    [
      'one that is accepted for good',
      report,
      [{ ...accepted, expires: '2030-01-01' }],
      ['GHSA-aaaa is accepted for more than 90 days.'],
    ],
    [
      'an acceptance of what is gone',
      { vulnerabilities: {} },
      [accepted],
      ['GHSA-aaaa is accepted for left, and no locked version has it: remove it.'],
    ],
  ])('%s', async (_what, found, policy, problems) => {
    expect(await problemsOf(found, policy)).toEqual(problems);
  });

  test('are accepted for a reason', () => {
    for (const one of readJson('scripts/supply-chain/accepted-advisories.json') as object[]) {
      expect(one).toEqual({
        id: expect.stringMatching(/^GHSA-/),
        package: expect.any(String),
        reason: expect.stringMatching(/.{20}/),
        expires: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      });
    }
  });
});

describe('the bill of materials', () => {
  type Produced = { json: string } | { unavailable: string };
  interface Sbom {
    metadata: { component: { name: string } };
    components: { name: string; 'bom-ref': string; type: string; hashes?: { content: string }[] }[];
  }
  const problemsOf = (sbom: Sbom) => callScript<string[]>('supply-chain/sbom.mjs', 'problemsOf', sbom, lock);
  /** Of npm, or one like it where npm is too old. */
  let sbom: Sbom;
  beforeAll(async () => {
    const produced = await callScript<Produced>('supply-chain/sbom.mjs', 'produceSbom');
    sbom = 'json' in produced ? (JSON.parse(produced.json) as Sbom) : await sbomOf(lock);
  }, 120_000);

  async function sbomOf(locked: Lock): Promise<Sbom> {
    const packages = await callScript<[string, LockEntry][]>(
      'supply-chain/lockfile.mjs',
      'packagesOf',
      locked.packages,
    );
    const components = packages.map(([path, { version = '', integrity, name: alias }]) => {
      const installedAs = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const name = typeof alias === 'string' ? alias : installedAs;
      const content = Buffer.from(integrity?.replace('sha512-', '') ?? '', 'base64').toString('hex');
      const hashes = integrity === undefined ? {} : { hashes: [{ alg: 'SHA-512', content }] };
      return { 'bom-ref': `${name}@${version}`, type: 'library', name, version, ...hashes };
    });
    const unique = [...new Map(components.map((component) => [component['bom-ref'], component])).values()];
    const metadata = { component: { name: 'payment-gateway' } };
    return { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components: unique } as Sbom;
  }

  test('is valid CycloneDX and has everything in package-lock.json', async () => {
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(await problemsOf(sbom)).toEqual([]);
  });

  /** What is made of the output of an npm like this shell script. */
  async function producedBy(script: string): Promise<Produced> {
    const directory = mkdtempSync(join(tmpdir(), 'payment-gateway-npm-'));
    const npm = join(directory, 'npm');
    writeFileSync(npm, `#!/bin/sh\n${script}\n`);
    chmodSync(npm, 0o755);
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}` };
    const produced = await callScriptIn<Produced>(env, 'supply-chain/sbom.mjs', 'produceSbom');
    rmSync(directory, { recursive: true });
    return produced;
  }

  test('is missing without a failure where npm is too old for it', async () => {
    expect(await producedBy(`printf 'Unknown command: "%s"\\n' "$1"; exit 1`)).toEqual({
      unavailable: '`npm sbom` came with npm 9.9 and 10.2, and this one is older',
    });
  });

  test('names packages, where npm names folders', async () => {
    const purls = [
      'pkg:npm/payment-gateway@0.1.0',
      'pkg:npm/%40payment-gateway/client@0.1.0',
      'pkg:npm/react-is@18.3.1',
    ];
    const [component, ...components] = purls.map((purl) => ({ 'bom-ref': purl, name: 'folder', purl }));
    const printed = JSON.stringify({ metadata: { component }, components });
    const produced = await producedBy(`echo '${printed}'`);
    const named = JSON.parse('json' in produced ? produced.json : '{}') as Sbom;
    expect([named.metadata.component, ...named.components].map(({ name }) => name)).toEqual([
      'payment-gateway',
      '@payment-gateway/client',
      'react-is',
    ]);
  });

  test('without a package, with another hash or outside the schema, is refused', async () => {
    const kafkajs = sbom.components.find((component) => component['bom-ref'] === 'kafkajs@2.2.4');
    const others = sbom.components.filter((component) => component !== kafkajs);
    expect(await problemsOf({ ...sbom, components: others })).toEqual(['The bill of materials lacks kafkajs@2.2.4.']);
    const forged = { ...kafkajs!, hashes: [{ alg: 'SHA-512', content: '00'.repeat(64) }] };
    expect(await problemsOf({ ...sbom, components: [...others, forged] })).toEqual([
      'The bill of materials has another hash for kafkajs@2.2.4 than package-lock.json.',
    ]);
    const untyped = { ...kafkajs!, type: 'thing' };
    expect((await problemsOf({ ...sbom, components: [...others, untyped] })).join()).toContain(
      "breaks CycloneDX's schema",
    );
  });
});

describe('downloads', () => {
  const name = 'kafka-server-4.1.0';
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'payment-gateway-download-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const check = () =>
    callScript<{ failure: string } | null>('install/recorded-sums.mjs', 'requireRecordedSums', name, folder);

  test('are refused with missing, unknown and changed files', async () => {
    writeFileSync(join(folder, 'kafka-clients-4.1.0.jar'), 'something else');
    writeFileSync(join(folder, 'extra.jar'), 'something more');
    const { failure } = (await check()) ?? { failure: '' };
    expect(failure).toContain('kafka-clients-4.1.0.jar has another SHA-256');
    expect(failure).toContain('extra.jar is not recorded');
    expect(failure).toContain('kafka_2.13-4.1.0.jar is missing');
    expect(failure).toContain('Nothing of it was started');
  });

  test('of a version without recorded sums are refused', async () => {
    writeFileSync(join(folder, 'server.jar'), 'something');
    const unknown = callScript<{ failure: string }>(
      'install/recorded-sums.mjs',
      'requireRecordedSums',
      'kafka-9.9',
      folder,
    );
    expect((await unknown).failure).toContain('server.jar is not recorded');
  });

  test('include a mongod for one platform, and say so on others', async () => {
    const missing = (platform: string) =>
      callScript<string | null>('servers/local-servers.mjs', 'missingMongod', platform);
    expect(await missing('linux-arm64')).toBe('a MongoDB for linux-arm64 (one is recorded for linux-x64 alone)');
    expect(await missing('linux-x64')).toBeNull();
  });

  test('include the Node that runs the services', async () => {
    expect(await callScript<string | null>('install/recorded-node.mjs', 'requireRecordedNode')).toBeNull();
  });
});

describe('ADR 0012', () => {
  const [HEAD, ...rows] = readFileSync(join(root, 'docs/adr/0012-dependencies.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ -]+\|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const workspaces = ['libs', 'services', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(folder, name))
      // The reader in Python is none.
      .filter((workspace) => existsSync(join(root, workspace, 'package.json'))),
  );
  const manifests = ['', 'bench', 'deploy/operations', ...workspaces].map((folder) => ({
    folder,
    ...(readJson(join(folder, 'package.json')) as Manifest),
  }));

  interface Manifest {
    name: string;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  }

  /** The installed package that a workspace uses: its own, or else the one that all share. */
  function installed(folder: string, name: string): { license: string } {
    const own = join(folder, 'node_modules', name, 'package.json');
    return readJson(existsSync(join(root, own)) ? own : join('node_modules', name, 'package.json')) as {
      license: string;
    };
  }

  const direct = new Map(
    manifests.flatMap(({ folder, dependencies, devDependencies }) =>
      Object.keys({ ...dependencies, ...devDependencies })
        .filter((name) => !manifests.some((own) => own.name === name))
        .map((name) => [name, folder] as const),
    ),
  );

  test('has a line for each direct dependency and for nothing else', () => {
    expect(HEAD).toEqual(['package', 'licence', 'last release', 'for']);
    expect(rows.map(([name]) => name)).toEqual([...direct.keys()].sort((a, b) => (a < b ? -1 : 1)));
  });

  test('gives licence, last release and reason', () => {
    for (const [name = '', licence, released, reason] of rows) {
      const { license } = installed(direct.get(name) ?? '', name);
      expect([name, licence, released, reason]).toEqual([
        name,
        license,
        expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
        expect.stringMatching(/\w/),
      ]);
    }
  });
});
