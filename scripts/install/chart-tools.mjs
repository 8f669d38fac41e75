import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.mjs';
import { cached } from './download-cache.mjs';
import { findOnPath } from './programs.mjs';
import { installPackages } from './python-packages.mjs';

const HELM = { version: 'v3.22.0', module: 'helm.sh/helm/v3', sum: 'h1:n1if5iQgHYsujPAcO5oonH/KiSNUmqmUF0iGVjSF3AU=' };
/** CustomResourceDefinitions of what the chart makes objects for, and where they are in the module. */
const CUSTOM = [
  {
    name: 'keda',
    version: 'v2.21.0',
    module: 'github.com/kedacore/keda/v2',
    folder: 'config/crd/bases',
    files: ['keda.sh_scaledobjects.yaml', 'keda.sh_triggerauthentications.yaml'],
  },
  {
    name: 'gateway-api',
    version: 'v1.4.0',
    module: 'sigs.k8s.io/gateway-api',
    folder: 'config/crd/standard',
    files: ['gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    name: 'prometheus-operator',
    version: 'v0.85.0',
    module: 'github.com/prometheus-operator/prometheus-operator',
    folder: 'example/prometheus-operator-crd',
    files: ['monitoring.coreos.com_servicemonitors.yaml', 'monitoring.coreos.com_prometheusrules.yaml'],
  },
];
const ASK_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
/** It took 64 s on two cores. */
const BUILD_TIMEOUT_MS = 600_000;

/** @typedef {{ processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} Context */

/**
 * What the tests of the Helm chart run and read.
 * @typedef {object} ChartTools
 * @property {string} helm its file
 * @property {string} kubernetesValidate folder for PYTHONPATH, with the module kubernetes_validate
 * @property {string[]} customSchemas folders of CustomResourceDefinitions
 */

/**
 * @param {Context} context
 * @returns {Promise<ChartTools>}
 */
export async function installChartTools(context) {
  return {
    helm: await installHelm(context),
    kubernetesValidate: await installPackages(
      'kubernetes-validate-1.37.0',
      'kubernetes-validate-requirements.txt',
      context,
    ),
    customSchemas: await Promise.all(CUSTOM.map((definitions) => installDefinitions(definitions, context))),
  };
}

/**
 * Helm 3 from the path, else built from its Go module.
 * @param {Context} context
 */
async function installHelm({ processes, progress }) {
  const found = findOnPath(['helm']);
  if (found !== undefined && (await processes.ask(found, ['version', '--short'], ASK_TIMEOUT_MS))?.startsWith('v3.')) {
    return found;
  }
  const folder = await cached(
    `helm-${HELM.version}`,
    async (target) => {
      const go = requireGo('Helm 3');
      await progress.during('Helm: go install', () =>
        processes.run('helm', {
          command: go,
          args: ['install', `${HELM.module}/cmd/helm@${HELM.version}`],
          // An older Go fetches the one that Helm needs.
          env: { GOTOOLCHAIN: 'auto', ...process.env, GOBIN: target, CGO_ENABLED: '0' },
          timeoutMs: BUILD_TIMEOUT_MS,
        }),
      );
      const parts = await processes.ask(go, ['version', '-m', join(target, 'helm')], ASK_TIMEOUT_MS);
      if (parts?.includes(`${HELM.module}\t${HELM.version}\t${HELM.sum}`)) return;
      throw new Failure(
        `The source of Helm ${HELM.version} is not the recorded one (scripts/install/chart-tools.mjs).`,
      );
    },
    // The program differs with the Go that built it; its source was checked.
    () => undefined,
  );
  return join(folder, 'helm');
}

/**
 * @param {(typeof CUSTOM)[number]} definitions
 * @param {Context} context
 */
function installDefinitions({ name, version, module: path, folder: source, files }, { processes, progress }) {
  return cached(`${name}-schemas-${version}`, async (folder) => {
    const go = requireGo(`the schemas of ${name}`);
    const module = `${path}@${version}`;
    const printed = await progress.during(`${name}: go mod download`, () =>
      processes.ask(go, ['mod', 'download', '-json', module], DOWNLOAD_TIMEOUT_MS),
    );
    if (printed === undefined) throw new Failure(`go mod download -json ${module} has failed: try it to see why.`);
    const { Dir: sources } = JSON.parse(printed.slice(printed.indexOf('{')));
    for (const file of files) copyFileSync(join(sources, source, file), join(folder, file));
  });
}

/** @param {string} what */
function requireGo(what) {
  const go = findOnPath(['go']);
  if (go !== undefined) return go;
  throw new Failure(
    `The tests of the Helm chart need ${what}, and Go to get it: install Go 1.21 or later (https://go.dev/dl; Debian 12's golang-go is too old), and Helm 3 comes by itself.`,
  );
}
