import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { services } from '../gateway/services.mjs';
import { gatewayPorts } from '../gateway/settings.mjs';

/**
 * An image: its name, the workspace whose production dependencies it has, and for a service the internal port that it
 * has unless OPS_PORT says otherwise.
 * @typedef {{ name: string, workspace: string, opsPort?: number }} Image
 */

const { OPS_PORT } = gatewayPorts({});

/** @type {Image[]} */
export const images = [
  ...services.map(({ name, ops }) => ({ name, workspace: `services/${name}`, opsPort: OPS_PORT + ops })),
  { name: 'operations', workspace: 'deploy/operations' },
];

/**
 * The command lines of the repository, by the name of their npm script: the compiled file of each.
 * @returns {Record<string, string>}
 */
export function commandLines() {
  /** @type {{ scripts: Record<string, string> }} */
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const found = Object.entries(scripts).flatMap(([name, script]) => {
    const [, file] = /^exec node scripts\/with-environment\.mjs (\S+)$/.exec(script) ?? [];
    return file === undefined ? [] : [[name, file]];
  });
  return Object.fromEntries(found);
}
