/** The table of the Helm chart's values in deploy/helm/README.md: what values.yaml says of each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, parseDocument } from 'yaml';
import { root } from './checkout.mjs';

const path = join(root, 'deploy', 'helm', 'payment-gateway', 'values.yaml');

/** @typedef {{ name: string, value: string, comment: string }} Row */

/** @param {string | null | undefined} comment */
const sentence = (comment) =>
  (comment ?? '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();

/**
 * Every value below a map, with the comments before it and before the maps that hold it alone.
 * @param {import('yaml').YAMLMap<unknown, unknown>} map
 * @param {string} prefix
 * @param {import('yaml').Document} document
 * @returns {Row[]}
 */
function rowsOf(map, prefix, document) {
  return map.items.flatMap((pair, index) => {
    const key = /** @type {import('yaml').Scalar<string>} */ (pair.key);
    const name = `${prefix}${key.value}`;
    // A comment before the first key counts as one of the map.
    const comment = sentence(key.commentBefore ?? (index === 0 ? map.commentBefore : undefined));
    if (isMap(pair.value) && pair.value.items.length > 0) {
      const [first, ...others] = rowsOf(pair.value, `${name}.`, document);
      return first === undefined ? [] : [{ ...first, comment: joined(comment, first.comment) }, ...others];
    }
    const value = /** @type {import('yaml').Node} */ (pair.value).toJS(document);
    return [{ name, value: JSON.stringify(value), comment }];
  });
}

/** @param {string[]} comments */
const joined = (...comments) => comments.filter((comment) => comment !== '').join(' — ');

/**
 * The values of all services in one row each; where defaults differ, values.yaml has them.
 * @param {Row[]} rows
 */
function merged(rows) {
  /** @type {Map<string, Row>} */
  const byName = new Map();
  for (const { name: own, value, comment } of rows) {
    const name = own.replace(/^services\.[^.]+\./, 'services.NAME.');
    const found = byName.get(name);
    if (found === undefined) byName.set(name, { name, value, comment });
    else if (found.value !== value) found.value = 'differs';
  }
  return [...byName.values()];
}

const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');

export function valuesTable() {
  const document = parseDocument(readFileSync(path, 'utf8'));
  if (!isMap(document.contents)) throw new Error(`${path} is not a map`);
  const rows = merged(rowsOf(document.contents, '', document)).map(
    ({ name, value, comment }) =>
      `| \`${name}\` | ${value === 'differs' ? value : `\`${cell(value)}\``} | ${cell(comment)} |`,
  );
  return ['| value | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
