import { unpackPrograms } from './debian-package.mjs';
import { findOnPath } from './programs.mjs';

const PROGRAMS = /** @type {const} */ (['prometheus', 'promtool']);

/**
 * Prometheus for tests: the one on the path, else Debian's package.
 * @returns {Promise<{ prometheus: string, promtool: string }>} their files
 */
export async function installPrometheus() {
  const [prometheus, promtool] = PROGRAMS.map((name) => findOnPath([name]));
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool };
  const [server = '', tool = ''] = await unpackPrograms('prometheus', PROGRAMS);
  return { prometheus: server, promtool: tool };
}

/**
 * Alertmanager for tests, in the same way. Debian puts its name before it.
 * @returns {Promise<{ alertmanager: string, amtool: string }>} their files
 */
export async function installAlertmanager() {
  const [alertmanager = '', amtool = ''] = await unpackPrograms('prometheus-alertmanager', [
    'prometheus-alertmanager',
    'amtool',
  ]);
  return { alertmanager, amtool };
}
