import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from './objects';

const root = join(__dirname, '..', '..', '..', '..');
export const CHART = join(root, 'deploy', 'helm', 'payment-gateway');
export const RELEASE = 'gateway';
export const NAMESPACE = 'payments';

/** The oldest that Chart.yaml allows, and the newest that the validator knows. */
export const KUBERNETES_VERSIONS = ['1.30', '1.37'] as const;

const VALUE_SETS_FOLDER = join(CHART, 'ci');
/** Names of the files in `ci`, without ending. */
export const VALUE_SETS = readdirSync(VALUE_SETS_FOLDER).map((file) => basename(file, '.yaml'));

/** Helm that Go has built takes a very old version otherwise. The objects are the same for each. */
const KUBERNETES = KUBERNETES_VERSIONS[1];
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(command, [...args], { env, maxBuffer: OUTPUT_MAX_BYTES }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** @throws Error with Helm's own words if it failed */
function objectsIn({ code, stdout, stderr }: Ended): KubernetesObject[] {
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

interface Tools {
  helm: string;
  kubernetesValidate: string;
  customSchemas: string[];
}

export interface Chart {
  /** Folders of CustomResourceDefinitions, each in a file `<group>_<plural>.yaml`. */
  readonly customSchemas: readonly string[];
  lint(valueSet: string): Promise<Ended>;
  /** `values`: over those of the set. */
  template(valueSet: string, values?: object, release?: string): Promise<Ended>;
  /** @throws Error with Helm's own words if it refuses the values */
  render(valueSet: string, values?: object, release?: string): Promise<KubernetesObject[]>;
  /** What an upgrade would make of a cluster: its API answers at this address. */
  renderOn(cluster: string, valueSet: string): Promise<KubernetesObject[]>;
  /** Checks objects against the schemas of a version of Kubernetes, unknown fields included. */
  validate(objects: readonly KubernetesObject[], version: string): Promise<Ended>;
  close(): void;
}

/**
 * Helm and the schemas: see scripts/install/chart-tools.mjs.
 *
 * @throws Error with one sentence if this machine cannot have them
 */
export async function openChart(): Promise<Chart> {
  const node = join(root, 'node_modules', '.bin', 'node');
  const { stdout } = await run(node, [join(root, 'scripts', 'test-chart.mjs')]);
  const tools = JSON.parse(stdout) as Tools | { failure: string };
  if ('failure' in tools) throw new Error(tools.failure);
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-chart-'));
  let files = 0;

  function write(text: string): string {
    const path = join(folder, `${(files += 1)}.json`);
    writeFileSync(path, text);
    return path;
  }

  const valuesOf = (valueSet: string, values?: object) => [
    '--values',
    join(VALUE_SETS_FOLDER, `${valueSet}.yaml`),
    ...(values === undefined ? [] : ['--values', write(JSON.stringify(values))]),
  ];

  const templateArgs = (valueSet: string, values?: object, release = RELEASE) => [
    'template',
    release,
    CHART,
    '--namespace',
    NAMESPACE,
    '--kube-version',
    KUBERNETES,
    ...valuesOf(valueSet, values),
  ];

  const template = (valueSet: string, values?: object, release?: string) =>
    run(tools.helm, templateArgs(valueSet, values, release));

  return {
    customSchemas: tools.customSchemas,
    lint: (valueSet) =>
      run(tools.helm, ['lint', '--strict', CHART, '--kube-version', KUBERNETES, ...valuesOf(valueSet)]),
    template,
    render: async (valueSet, values, release) => objectsIn(await template(valueSet, values, release)),
    async renderOn(cluster, valueSet) {
      const args = [...templateArgs(valueSet), '--dry-run=server', '--kube-apiserver', cluster];
      // Without the clusters that the user of this machine has.
      return objectsIn(await run(tools.helm, args, { ...process.env, KUBECONFIG: join(folder, 'none') }));
    },
    validate(objects, version) {
      const paths = objects.map((object) => write(JSON.stringify(object)));
      const args = ['-m', 'kubernetes_validate', '--kubernetes-version', version, '--strict', ...paths];
      return run('python3', args, { ...process.env, PYTHONPATH: tools.kubernetesValidate });
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
