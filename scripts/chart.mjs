/** What the Helm chart takes from declarations in the code: services, provisioning, edges, and the schemas of settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './checkout.mjs';

/**
 * @typedef {{ type?: string, secret?: true, const?: string, anyOf?: Setting[], default?: unknown, description?: string }} Setting
 * @typedef {{ properties: Record<string, Setting>, required?: string[] }} Settings all of a service, its connectors' included
 * @typedef {{ name: string, consumes: string[], produces: string[] }} Service
 * @typedef {{ network: string, to: string, port?: number, from: string[], only?: string }} Edge
 * @typedef {{ services: Record<string, Service>, topics: Record<string, { name: string }>, edges: Edge[], opsPorts: Record<string, number> }} Contracts
 */

const chart = join(root, 'deploy', 'helm', 'payment-gateway');
const schemaPath = join(chart, 'values.schema.json');

const set = Object.keys(parse(readFileSync(join(chart, 'files', 'settings.yaml'), 'utf8')));

/** Of these the chart only sets a default: a directory server of the operator's may need another. */
const defaults = ['THREEDS_RESULTS_URL'];

/** Settings that the chart sets, so that nobody sets them by hand. */
const managed = new Set(set.filter((name) => !defaults.includes(name)));

/** The port of each service that is neither for health and metrics nor of an operator's choice. */
const portSettings = {
  http: ['PORT', 'THREEDS_PORT', 'SIMULATOR_PORT'],
  internal: ['CARD_QUERY_PORT', 'CALLBACK_ADMIN_PORT', 'PAYOUT_QUERY_PORT'],
};

/** Processes do not agree with each other if they have different values of these, so they are set once for all. */
const sameEverywhere = [
  'ALLOW_SIMULATED_MONEY',
  'AUDIT_RETENTION_DAYS',
  'CALLBACK_RETENTION_DAYS',
  'CHALLENGE_TIMEOUT_SECONDS',
  'KEY_PROVIDER',
  'KMS_CA_FILE',
  'KMS_ENDPOINT',
  'KMS_KEY_ID',
  'OTLP_CA_FILE',
  'OTLP_URL',
  'RECORD_RETENTION_DAYS',
  'SANDBOX_RETENTION_DAYS',
  'TRACE_SAMPLE_RATIO',
];

/** Keywords of a setting that JSON Schema and Helm know too. */
const KEYWORDS = ['type', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'description'];

/** @param {Setting} setting */
function schemaOf(setting) {
  const kept = Object.entries(setting).filter(([keyword]) => KEYWORDS.includes(keyword));
  const choices = setting.anyOf && { enum: setting.anyOf.map((choice) => choice.const) };
  return { ...Object.fromEntries(kept), ...choices };
}

/**
 * Those that an operator sets in values: neither secrets nor the chart's own.
 * @param {Settings} settings
 * @returns {[string, Setting][]}
 */
const free = ({ properties }) =>
  Object.entries(properties).filter(([name, setting]) => !setting.secret && !managed.has(name));

/** @param {Settings} settings */
function ownSettings(settings) {
  const own = free(settings).filter(([name]) => !sameEverywhere.includes(name));
  const properties = Object.fromEntries(own.map(([name, setting]) => [name, schemaOf(setting)]));
  const required = (settings.required ?? []).filter((name) => name in properties && isRequired(settings, name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/**
 * TypeBox counts settings with a default as required too.
 * @param {Settings} settings
 * @param {string} name
 */
const isRequired = ({ properties }, name) => properties[name]?.default === undefined;

/**
 * Settings of several services, such as LOG_LEVEL; each service has the same schema for them.
 * @param {Settings[]} all
 */
function sharedSettings(all) {
  const names = all.flatMap((settings) => free(settings).map(([name]) => name));
  const shared = names.filter((name, index) => names.indexOf(name) < index);
  const declared = Object.fromEntries(all.flatMap(free).map(([name, setting]) => [name, schemaOf(setting)]));
  const properties = Object.fromEntries([...new Set(shared)].toSorted().map((name) => [name, declared[name]]));
  return { type: 'object', properties, additionalProperties: false };
}

/** @param {Settings} settings */
function settingNames({ properties, required = [] }) {
  const entries = Object.entries(properties);
  const secrets = entries.filter(([, { secret }]) => secret).map(([name]) => name);
  return {
    settings: entries.filter(([, { secret }]) => !secret).map(([name]) => name),
    secrets: secrets.map((name) => ({ name, required: required.includes(name) })),
  };
}

/**
 * @param {string} name of a service
 * @param {Settings} settings
 * @param {Contracts} contracts
 */
function declarationOf(name, settings, { services, topics, edges, opsPorts }) {
  /** @param {string[]} names */
  const portOf = (names) => names.flatMap((setting) => settings.properties[setting]?.default ?? [])[0];
  // The setting has no default, because development needs no such port.
  const closed = edges.find(({ to, only }) => to === name && only === 'closed-sandbox');
  const { consumes = [] } = Object.values(services).find((service) => service.name === name) ?? {};
  return {
    ports: {
      http: portOf(portSettings.http),
      internal: portOf(portSettings.internal) ?? closed?.port,
      ops: opsPorts[name],
    },
    consumes: consumes.map((topic) => topics[topic]?.name),
    ...settingNames(settings),
  };
}

/**
 * @param {{ services: Map<string, Settings>, provisioning: Settings, checks: Record<string, Settings>, command: Settings }} settings `checks`: of the command lines that run by schedule; `command`: of all others
 * @param {{ contracts: Contracts, stopTimeoutMs: number }} code
 * @returns {Map<string, string>} JSON by path
 */
export function chartFiles({ services, provisioning, checks, command }, { contracts, stopTimeoutMs }) {
  const declarations = {
    comment: 'npm run docs writes this file from the code.',
    stopTimeoutSeconds: stopTimeoutMs / 1_000,
    services: Object.fromEntries([...services].map(([name, own]) => [name, declarationOf(name, own, contracts)])),
    provisioning: { ports: {}, ...settingNames(provisioning) },
    checks: Object.fromEntries(
      Object.entries(checks).map(([name, own]) => [name, { ports: {}, ...settingNames(own) }]),
    ),
    command: { ports: {}, settings: settingNames(command).settings },
    // Networks are Compose's own.
    edges: contracts.edges.map(({ network: _network, ...edge }) => edge),
  };
  const schema = JSON.parse(readFileSync(schemaPath, 'utf8'));
  schema.definitions.settings = sharedSettings([...services.values(), provisioning]);
  for (const [name, own] of [...services, /** @type {const} */ (['provisioning', provisioning])]) {
    schema.definitions[`settings-${name}`] = ownSettings(own);
  }
  return new Map([
    [join(chart, 'files', 'services.json'), JSON.stringify(declarations)],
    [schemaPath, JSON.stringify(schema)],
  ]);
}
