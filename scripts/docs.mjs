/**
 * `npm run docs [-- --check] [--metrics FILE]`: writes docs/schemas, docs/asyncapi.yaml, docs/openapi.yaml,
 * docs/openapi-clients.yaml, docs/response-codes.json, the codes of the merchants' client, catalog-info.yaml,
 * deploy/monitoring, the generated parts of the Helm chart and the generated tables of docs from the declarations in the
 * code. With `--check` it writes nothing and fails if a file would change. FILE lists the metrics that running services
 * serve, as JSON; without it their table stays as it is.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { stringify } from 'yaml';
import { catalog } from './catalog.mjs';
import { chartFiles } from './chart.mjs';
import { valuesTable } from './chart-values.mjs';
import { root } from './checkout.mjs';
import { explain, Failure } from './failure.mjs';
import { holders } from './gateway/secrets.mjs';
import { services as processes } from './gateway/services.mjs';
import { gatewayEnvironment, gatewayPorts } from './gateway/settings.mjs';

/**
 * @typedef {{ type?: string, secret?: true, const?: string, anyOf?: Setting[], minimum?: number, maximum?: number, default?: unknown, description?: string }} Setting
 * @typedef {{ properties: Record<string, Setting>, required?: string[] }} Settings
 * @typedef {{ name: string, type: string, help: string, services: string[] }} Metric
 * @typedef {{ name: string, key: string, retentionMs: number, description: string, deadLetters?: string }} Topic
 * @typedef {{ type: string, topic: string, description: string }} Message
 * @typedef {{ name: string, meaning: string, response?: number, check?: number, callback?: number }} AnswerField
 * @typedef {{ visa: string, mastercard: string, threeDS: string }} TestCards
 * @typedef {{ trigger: number, bank: string, end: string }} Misbehaving
 * @typedef {{ code: number, name: string, message: string, class: string, outcomeUnknown?: boolean, extension?: boolean }} Code
 * @typedef {{ name: string, severity: string, forMinutes: number, summary: string }} Alert
 * @typedef {{ name: string, alert: string, objective: number, promise: string }} Objective
 */

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MINUTES_OF_A_DAY = DAY_MS / MINUTE_MS;
const GENERATED = '# Written by `npm run docs` from libs/monitoring.\n';

const require = createRequire(import.meta.url);
const folder = join(root, 'docs');
const monitoringFolder = join(root, 'deploy', 'monitoring');
const clientCodes = join(root, 'libs', 'merchant-client', 'src', 'codes.ts');

/** @param {string} path of a compiled file, without `dist` and ending */
const load = (path) => {
  const [, workspace = '', file = ''] = /^(\w+\/[^/]+)\/(.+)$/.exec(path) ?? [];
  return require(join(root, workspace, 'dist', `${file}.js`));
};

/**
 * Files of connectors that declare settings, without ending.
 * @param {string} service
 */
function connectors(service) {
  const cwd = join(root, 'services', service, 'dist');
  return globSync('adapters/{acquirers,banks}/*/{connector,settings}.js', { cwd })
    .map((file) => file.replace(/\.js$/, ''))
    .filter((file) => load(`services/${service}/${file}`).settings !== undefined)
    .toSorted();
}

/** Where each service declares its settings, its connectors' included. */
const declarations = {
  'api-edge': ['config'],
  'card-processing': ['config', ...connectors('card-processing')],
  payout: ['config', ...connectors('payout')],
  'auth-expiry': ['config'],
  threeds: ['config'],
  'callback-dispatcher': ['config'],
  simulator: ['config'],
};

/** What `npm start` sets, on the ports that it takes by default. */
const started = {
  ...gatewayEnvironment({
    env: {},
    ports: gatewayPorts({}),
    servers: { kafkaBrokers: 'the broker that it starts', mongodbUri: 'the replica set that it starts' },
  }),
  ...Object.fromEntries(Object.keys(holders).map((name) => [name, 'a generated key'])),
};

/** @param {unknown} text */
const cell = (text) => String(text).replaceAll('|', '\\|');
/** @param {unknown} text */
const code = (text) => `\`${cell(text)}\``;

/**
 * @param {string[]} head
 * @param {unknown[][]} rows
 */
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** @param {Setting} setting */
function valuesOf({ type, secret, anyOf, minimum, maximum }) {
  if (secret) return 'secret';
  if (anyOf !== undefined) return anyOf.map((choice) => code(choice.const)).join(', ');
  if (type !== 'integer' && type !== 'number') return 'text';
  if (minimum === undefined && maximum === undefined) return type;
  return maximum === undefined ? `${type} ≥ ${minimum}` : `${type}, ${minimum} to ${maximum}`;
}

/**
 * @param {string} name
 * @param {Setting} setting
 * @param {boolean} required
 */
function defaultOf(name, setting, required) {
  if (setting.default !== undefined) return setting.default === '' ? 'empty' : code(setting.default);
  if (!required) return 'unset';
  const value = started[name];
  if (value === undefined) return 'required';
  return `required; \`npm start\`: ${/^(a|the) /.test(value) ? value : code(value)}`;
}

/** @param {Settings[]} schemas */
function settingsTable(schemas) {
  const rows = schemas.flatMap(({ properties, required = [] }) =>
    Object.entries(properties).map(([name, setting]) => {
      if (setting.description === undefined) throw new Failure(`The setting ${name} has no description.`);
      const byDefault = defaultOf(name, setting, required.includes(name));
      return [code(name), valuesOf(setting), byDefault, cell(setting.description)];
    }),
  );
  return table(['name', 'value', 'default', 'meaning'], rows);
}

/** @param {string} service */
function settingsOf(service) {
  const common = load('libs/service-kit/config').commonSettings;
  const own = declarations[/** @type {'payout'} */ (service)].map((file) => {
    const { settings } = load(`services/${service}/${file}`);
    const entries = Object.entries(settings.properties).filter(([name]) => !(name in common));
    return { ...settings, properties: Object.fromEntries(entries) };
  });
  return settingsTable(own);
}

function commonSettings() {
  const { settings } = load('services/auth-expiry/config');
  const { commonSettings: common } = load('libs/service-kit/config');
  return settingsTable([{ properties: common, required: settings.required }]);
}

/** Of `npm run provision`, without those of every service. */
function provisionSettings() {
  const common = load('libs/service-kit/config').commonSettings;
  const { settings } = load('deploy/operations/settings');
  const own = Object.entries(settings.properties).filter(([name]) => !(name in common));
  return settingsTable([{ properties: Object.fromEntries(own) }]);
}

/** Of `npm run doctor`, without those of provisioning. */
function doctorSettings() {
  const { settings: shared } = load('deploy/operations/settings');
  const { settings } = load('deploy/operations/doctor/settings');
  const own = Object.entries(settings.properties).filter(([name]) => !(name in shared.properties));
  return settingsTable([{ properties: Object.fromEntries(own) }]);
}

function topicsTable() {
  const { topics } = load('libs/contracts/index');
  const rows = Object.values(/** @type {Record<string, Topic>} */ (topics)).map((topic) => {
    const kept =
      topic.retentionMs < DAY_MS ? `${topic.retentionMs / MINUTE_MS} minutes` : `${topic.retentionMs / DAY_MS} days`;
    const deadLetters = topic.deadLetters ? code(topic.deadLetters) : '–';
    return [code(topic.name), code(topic.key), kept, deadLetters, cell(topic.description)];
  });
  return table(['topic', 'key', 'kept', 'dead letters', 'content'], rows);
}

function headersTable() {
  /** @type {Map<string, string>} */
  const meanings = load('libs/contracts/index').headerMeanings;
  return table(
    ['header', 'meaning'],
    Array.from(meanings, ([name, meaning]) => [code(name), cell(meaning)]),
  );
}

const readingRules = () =>
  /** @type {string[]} */ (load('libs/contracts/index').readingRules).map((rule) => `- ${rule}`).join('\n');

/**
 * docs/asyncapi.yaml, with messages that the tests have seen.
 * @param {string} path
 */
function asyncApi(path) {
  const { asyncApiDocument } = load('libs/contracts/index');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const examples = JSON.parse(readFileSync(join(folder, 'message-examples.json'), 'utf8'));
  const document = asyncApiDocument({ version, broker: `127.0.0.1:${gatewayPorts({}).KAFKA_PORT}`, examples });
  const head = '# Written by `npm run docs` from libs/contracts.\n';
  return formatted(path, head + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }));
}

/** @param {string} topic */
function messagesTable(topic) {
  const { messages } = load('libs/contracts/index');
  const rows = /** @type {Message[]} */ (messages)
    .filter((message) => message.topic === topic)
    .map(({ type, description }) => [`[\`${type}\`](schemas/${type}.json)`, cell(description)]);
  if (rows.length === 0) throw new Failure(`No message type belongs to the topic ${topic}.`);
  return table(['type', 'meaning'], rows);
}

function codesTable() {
  const { responseCodes, cardStatusOfCode, adviceOfCode, cardholderTextOfCode } = load('libs/contracts/index');
  const rows = /** @type {Code[]} */ (responseCodes).map((entry) => [
    entry.code,
    cell(entry.message) + (entry.extension ? ' (ours)' : ''),
    cardStatusOfCode(entry.code),
    entry.outcomeUnknown ? 'unknown' : '',
    `[\`${adviceOfCode(entry.code)}\`](#advice)`,
    cell(cardholderTextOfCode(entry.code) ?? '–'),
    entry.class,
    code(entry.name),
  ]);
  return table(
    [
      'code',
      'message',
      'status of a card operation',
      'outcome',
      'advice',
      'for the cardholder',
      'class',
      'name in the code',
    ],
    rows,
  );
}

function adviceTable() {
  /** @type {Record<string, string>} */
  const advice = load('libs/contracts/index').ADVICE;
  return table(
    ['advice', 'what to do'],
    Object.entries(advice).map(([name, meaning]) => [code(name), cell(meaning)]),
  );
}

function codesByAdviceTable() {
  const { ADVICE, adviceOfCode, responseCodes } = load('libs/contracts/index');
  const codes = /** @type {Code[]} */ (responseCodes).map((entry) => entry.code);
  const rows = Object.entries(/** @type {Record<string, string>} */ (ADVICE)).map(([advice, meaning]) => [
    code(advice),
    cell(meaning),
    ranges(codes, (one) => adviceOfCode(one) === advice),
  ]);
  return table(['advice', 'what to do', 'codes'], rows);
}

/**
 * Neighbours in the list are one range.
 * @param {number[]} sorted
 * @param {(one: number) => boolean} isIn
 */
function ranges(sorted, isIn) {
  const starts = sorted.flatMap((one, index) => {
    if (!isIn(one) || (index > 0 && isIn(Number(sorted[index - 1])))) return [];
    const end = sorted.findIndex((other, at) => at > index && !isIn(other));
    const last = sorted[(end === -1 ? sorted.length : end) - 1];
    return [one === last ? String(one) : `${one} to ${last}`];
  });
  return starts.join(', ');
}

function answersTable() {
  const { answerFields } = load('libs/contracts/index');
  const rows = /** @type {AnswerField[]} */ (answerFields).map((field) => [
    code(field.name),
    cell(field.meaning),
    field.response ? 'yes' : '',
    field.check ? 'yes' : '',
    field.callback ? 'yes' : '',
  ]);
  return table(['field', 'value', 'answer', 'CHECK record', 'callback'], rows);
}

function decisionsTable() {
  const pages = globSync(join(folder, 'adr', '[0-9]*.md')).toSorted();
  const rows = pages.map((path) => {
    const [, number, title] = /^# (\d{4}): (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
    return [`[${number}](${basename(path)})`, title];
  });
  return table(['no.', 'decision'], rows);
}

function testCardsTable() {
  const { TEST_CARDS } = load('libs/contracts/index');
  const rows = Object.entries(/** @type {Record<string, TestCards>} */ (TEST_CARDS)).map(([name, cards]) => {
    const others = name === 'notEnrolled' ? ', any other card' : '';
    return [`${cards.visa} Visa, ${cards.mastercard} Mastercard${others}`, 'approved', cell(cards.threeDS)];
  });
  return table(['card', 'SALE / AUTH', 'SALE3D / AUTH3D'], rows);
}

function misbehavioursTable() {
  const { MISBEHAVIOURS } = load('libs/contracts/index');
  const rows = Object.values(/** @type {Record<string, Misbehaving>} */ (MISBEHAVIOURS)).map(
    ({ trigger, bank, end }) => [(trigger / 100).toFixed(2), cell(bank), cell(end)],
  );
  return table(['amount', 'the simulator', 'the resolver then finds'], rows);
}

function auditedTable() {
  /** @type {Record<string, string[]>} */
  const actions = load('libs/audit/index').AUDITED;
  const { 'account.change': account = [] } = actions;
  const rows = Object.entries(actions).map(([action, fields]) => {
    const isAccount = action !== 'account.change' && account.every((name) => fields.includes(name));
    const own = isAccount ? fields.filter((name) => !account.includes(name)) : fields;
    return [code(action), [...(isAccount ? ['those of `account.change`'] : []), ...own.map(code)].join(', ')];
  });
  return table(['action', 'fields that its entries may show'], rows);
}

function usersTable() {
  const { services, commandLines, outsideReaders, topics } = load('libs/contracts/index');
  const names = (/** @type {string[]} */ used = []) => used.map((topic) => code(topics[topic].name)).join(', ') || '–';
  const rows = [services, commandLines, outsideReaders]
    .flatMap((users) => Object.values(users))
    .map((user) => {
      const shared = Object.entries(
        /** @type {Record<string, Record<string, string[]>>} */ (user.shares ?? {}),
      ).flatMap(([database, collections]) =>
        Object.entries(collections).map(
          ([collection, actions]) => `${code(`${database}.${collection}`)}: ${actions.join(', ')}`,
        ),
      );
      const database = user.database === undefined ? '–' : code(user.database);
      const reads = [...(user.consumes ?? []), ...(user.reads ?? [])];
      return [code(user.name), names(reads), names(user.produces), database, shared.join('; ') || '–'];
    });
  return table(['user', 'reads', 'writes', 'own database', 'in shared databases'], rows);
}

/** @param {Metric[]} metrics */
function metricsTable(metrics) {
  const all = Object.keys(declarations).length;
  const rows = metrics.map(({ name, type, help, services }) => [
    code(name),
    type,
    services.length === all ? 'all' : services.length === all - 1 ? 'all but the simulator' : services.join(', '),
    cell(help),
  ]);
  return table(['metric', 'type', 'services', 'meaning'], rows);
}

/** @param {string} summary */
const withoutTemplates = (summary) =>
  summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_template, /** @type {string} */ label) => `*${label}*`);

/** @param {number} minutes */
function durationOf(minutes) {
  if (minutes === 0) return 'at once';
  const days = minutes / MINUTES_OF_A_DAY;
  if (Number.isInteger(days)) return days === 1 ? '1 day' : `${days} days`;
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

function alertsTable() {
  const rows = /** @type {Alert[]} */ (load('libs/monitoring/index').alerts).map(
    ({ name, severity, forMinutes, summary }) => [
      `[${name}](#${name.toLowerCase()})`,
      severity,
      durationOf(forMinutes),
      cell(withoutTemplates(summary)),
    ],
  );
  return table(['alert', 'severity', 'after', 'says'], rows);
}

function objectivesTable() {
  const rows = /** @type {Objective[]} */ (load('libs/monitoring/index').slos).map(
    ({ name, alert, objective, promise }) => [
      code(name),
      cell(promise),
      `${Number((objective * 100).toFixed(3))} %`,
      `[${alert}](runbook.md#${alert.toLowerCase()})`,
    ],
  );
  return table(['objective', 'what is good', 'share', 'alerts'], rows);
}

/** @returns {Map<string, string>} content of deploy/monitoring by path */
function monitoringFiles() {
  const { OPS_PORT: first } = gatewayPorts({});
  const targets = processes.map(({ name, ops }) => ({ service: name, port: first + ops }));
  /** @type {Map<string, unknown>} */
  const files = load('libs/monitoring/index').monitoringFiles(targets);
  return new Map(
    Array.from(files, ([name, content]) => [
      join(monitoringFolder, name),
      name.endsWith('.json')
        ? JSON.stringify(content)
        : GENERATED + stringify(content, { lineWidth: 0, aliasDuplicateObjects: false }),
    ]),
  );
}

/** The merchants' API: the exact document, and the one that generators of clients read. */
function openApi() {
  const { clientDocument } = load('services/api-edge/adapters/openapi/client-document');
  const { openApiDocument } = load('services/api-edge/adapters/openapi/document');
  const { merchantEndpoints } = load('services/api-edge/application/endpoints');
  const { isoBankAddresses } = load('services/api-edge/adapters/bank-addresses/iso');
  const exact = openApiDocument(merchantEndpoints(isoBankAddresses));
  const written = (/** @type {string} */ adr, /** @type {object} */ document) =>
    `# Written by \`npm run docs\` from services/api-edge: see docs/adr/${adr}.\n` +
    stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
  return {
    exact: written('0061-openapi.md', exact),
    clients: written('0091-openapi-for-client-generators.md', clientDocument(exact)),
  };
}

/** Of the Helm chart, by path. */
function chart() {
  const entries = Object.entries(declarations).map(([service, files]) => {
    const declared = files.map((file) => load(`services/${service}/${file}`).settings);
    const properties = Object.assign({}, ...declared.map((settings) => settings.properties));
    return /** @type {const} */ ([service, { properties, required: declared.flatMap(({ required }) => required) }]);
  });
  const checks = {
    doctor: load('deploy/operations/doctor/settings').settings,
    audit: load('libs/audit/settings').verifySettings,
  };
  const settings = {
    services: new Map(entries),
    provisioning: load('deploy/operations/settings').settings,
    checks,
    command: load('deploy/operations/command-settings').commandSettings,
  };
  const { STOP_TIMEOUT_MS } = load('libs/service-kit/service');
  return chartFiles(settings, { contracts: load('libs/contracts/index'), stopTimeoutMs: STOP_TIMEOUT_MS });
}

/**
 * The content between `<!-- generated: NAME ARGUMENT -->` and `<!-- end -->`; undefined leaves it unchanged.
 * @param {Metric[] | undefined} metrics
 * @returns {Record<string, (argument: string) => string | undefined>}
 */
const blocks = (metrics) => ({
  'common-settings': commonSettings,
  settings: settingsOf,
  'provision-settings': provisionSettings,
  'doctor-settings': doctorSettings,
  topics: topicsTable,
  headers: headersTable,
  reading: readingRules,
  messages: messagesTable,
  answers: answersTable,
  codes: codesTable,
  advice: adviceTable,
  'codes-by-advice': codesByAdviceTable,
  decisions: decisionsTable,
  audited: auditedTable,
  'test-cards': testCardsTable,
  misbehaviours: misbehavioursTable,
  scenarios: load('services/api-edge/adapters/openapi/documented-codes').scenariosTable,
  users: usersTable,
  alerts: alertsTable,
  objectives: objectivesTable,
  values: valuesTable,
  metrics: () => metrics && metricsTable(metrics),
});

/**
 * @param {string} path
 * @param {ReturnType<typeof blocks>} generators
 */
async function filled(path, generators) {
  const text = readFileSync(path, 'utf8').replaceAll(
    /(<!-- generated: ([\w-]+)(?: ([\w-]*))? -->\n)[^]*?(<!-- end -->)/g,
    (block, begin, name, argument = '', end) => {
      const generate = generators[name];
      if (generate === undefined) throw new Failure(`${path} asks for ${name}, which is not generated.`);
      const content = generate(argument);
      return content === undefined ? block : `${begin}\n${content}\n\n${end}`;
    },
  );
  return formatted(path, text);
}

/**
 * @param {string} path
 * @param {string} text
 */
const formatted = async (path, text) => format(text, { ...(await resolveConfig(path)), filepath: path });

/** @param {Metric[] | undefined} metrics @returns {Promise<Map<string, string>>} content by path */
async function generatedFiles(metrics) {
  /** @type {Map<string, string>} */
  const files = new Map();
  const written = [join(folder, '*.md'), join(folder, 'adr', 'README.md'), join(root, 'deploy', 'helm', 'README.md')];
  for (const path of globSync(written)) files.set(path, await filled(path, blocks(metrics)));
  const { clientCodesFile, registryFile, schemaFiles, services, topics, messages } = load('libs/contracts/index');
  const readmeOf = (/** @type {string} */ workspace) => readFileSync(join(root, workspace, 'README.md'), 'utf8');
  files.set(join(root, 'catalog-info.yaml'), catalog({ services, topics, messages, readmeOf }));
  files.set(join(folder, 'response-codes.json'), registryFile());
  const asyncApiPath = join(folder, 'asyncapi.yaml');
  files.set(asyncApiPath, await asyncApi(asyncApiPath));
  files.set(clientCodes, await formatted(clientCodes, clientCodesFile()));
  const { exact, clients } = openApi();
  files.set(join(folder, 'openapi.yaml'), exact);
  files.set(join(folder, 'openapi-clients.yaml'), clients);
  for (const [name, content] of schemaFiles()) files.set(join(folder, 'schemas', name), content);
  for (const [path, content] of monitoringFiles()) files.set(path, await formatted(path, content));
  for (const [path, content] of chart()) files.set(path, await formatted(path, content));
  return files;
}

/** What an earlier version has written and this one does not. @param {Map<string, string>} files */
const leftovers = (files) =>
  globSync([join(folder, 'schemas', '*'), join(monitoringFolder, '{prometheus,grafana}', '**', '*.*')]).filter(
    (path) => !files.has(path),
  );

try {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, metrics: { type: 'string' } } });
  const files = await generatedFiles(values.metrics && JSON.parse(readFileSync(values.metrics, 'utf8')));
  const changed = [...files].filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  const gone = leftovers(files);
  if (values.check && changed.length + gone.length > 0) {
    const paths = [...changed.map(([path]) => path), ...gone].map((path) => path.slice(root.length + 1));
    throw new Failure(`Run npm run docs: the code declares something else than ${paths.join(', ')}.`);
  }
  for (const [path, text] of changed) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  for (const path of gone) rmSync(path);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
