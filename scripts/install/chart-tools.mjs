import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.mjs';
import { cached } from './download-cache.mjs';
import { findOnPath } from './programs.mjs';
import { installPackages } from './python-packages.mjs';

const HELM = { version: 'v3.22.0', module: 'helm.sh/helm/v3', sum: 'h1:n1if5iQgHYsujPAcO5oonH/KiSNUmqmUF0iGVjSF3AU=' };
const KEDA = { version: 'v2.21.0', module: 'github.com/kedacore/keda/v2' };
const KEDA_SCHEMAS = ['keda.sh_scaledobjects.yaml', 'keda.sh_triggerauthentications.yaml'];
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
 * @property {string} kedaSchemas folder of KEDA's CustomResourceDefinitions
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
    kedaSchemas: await installKedaSchemas(context),
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

/** @param {Context} context */
function installKedaSchemas({ processes, progress }) {
  return cached(`keda-schemas-${KEDA.version}`, async (folder) => {
    const go = requireGo("KEDA's schemas");
    const module = `${KEDA.module}@${KEDA.version}`;
    const printed = await progress.during('KEDA: go mod download', () =>
      processes.ask(go, ['mod', 'download', '-json', module], DOWNLOAD_TIMEOUT_MS),
    );
    if (printed === undefined) throw new Failure(`go mod download -json ${module} has failed: try it to see why.`);
    const { Dir: source } = JSON.parse(printed.slice(printed.indexOf('{')));
    for (const name of KEDA_SCHEMAS) copyFileSync(join(source, 'config', 'crd', 'bases', name), join(folder, name));
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
