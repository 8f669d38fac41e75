import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isSafeAddress } from '../safe-address';
import type { ScenarioName } from './scenarios';
import { SCENARIO_NAMES } from './scenarios';

/** The message says what to do instead. */
export class UsageError extends Error {}

export type Command =
  | { name: 'listen'; target: URL; agoSeconds?: number; positionFile?: string }
  | { name: 'trigger'; scenario: ScenarioName; amount?: string; callbackUrl: string }
  | { name: 'events'; limit: number; agoSeconds?: number; reference?: string; asJson: boolean }
  | { name: 'resend'; callbackId: string };

/** The account and its gateway. */
export interface Settings {
  /** Without a slash at the end. */
  url: string;
  account: string;
  password: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';
/** Accepted, since it is https. The gateway reaches nobody there, and "listen" gets the callback all the same. */
const DEFAULT_CALLBACK_URL = 'https://localhost/callback';
const DEFAULT_LIMIT = '20';
const MAX_LIMIT = 50;

const COMMON = {
  url: { type: 'string' },
  account: { type: 'string' },
  'allow-http': { type: 'boolean' },
  'password-file': { type: 'string' },
  /** Refused with a reason. */
  password: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const OPTIONS = {
  listen: { 'forward-to': { type: 'string' }, since: { type: 'string' }, 'position-file': { type: 'string' } },
  trigger: { amount: { type: 'string' }, 'callback-url': { type: 'string' } },
  events: {
    limit: { type: 'string' },
    since: { type: 'string' },
    reference: { type: 'string' },
    json: { type: 'boolean' },
  },
  resend: {},
} as const satisfies Record<Command['name'], object>;

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** @throws UsageError */
export function parseCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { command: Command; settings: Settings } | 'help' {
  const [name = '', ...rest] = args;
  if (name === '' || name === 'help' || name === '--help') return 'help';
  if (!isCommand(name)) throw new UsageError(`There is no command "${name}".`);
  const { values, positionals } = readOptions(name, rest);
  if (values['help'] === true) return 'help';
  if (values['password'] !== undefined) {
    throw new UsageError('The API password does not belong on the command line: others on this machine can read it.');
  }
  return { command: commandOf(name, values, positionals), settings: settingsOf(values, env) };
}

function isCommand(name: string): name is Command['name'] {
  return Object.hasOwn(OPTIONS, name);
}

function readOptions(name: Command['name'], args: string[]): { values: Values; positionals: string[] } {
  try {
    const read = parseArgs({ args, options: { ...COMMON, ...OPTIONS[name] }, allowPositionals: true });
    return { values: read.values as Values, positionals: read.positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function commandOf(name: Command['name'], values: Values, positionals: readonly string[]): Command {
  const [argument, ...others] = positionals;
  const takesOne = name === 'trigger' || name === 'resend';
  if (others.length > 0 || (!takesOne && argument !== undefined)) {
    throw new UsageError(`Unexpected argument "${others[0] ?? argument}".`);
  }
  const since = textOf(values, 'since');
  const ago = since === undefined ? {} : { agoSeconds: secondsOf(since) };
  switch (name) {
    case 'listen': {
      const positionFile = textOf(values, 'position-file');
      const target = targetOf(textOf(values, 'forward-to'));
      return { name, target, ...ago, ...(positionFile === undefined ? {} : { positionFile }) };
    }
    case 'trigger': {
      const scenario = SCENARIO_NAMES.find((known) => known === argument);
      if (scenario === undefined) throw new UsageError(`"trigger" takes one of ${SCENARIO_NAMES.join(', ')}.`);
      const amount = textOf(values, 'amount');
      const callbackUrl = textOf(values, 'callback-url') ?? DEFAULT_CALLBACK_URL;
      return { name, scenario, callbackUrl, ...(amount === undefined ? {} : { amount }) };
    }
    case 'events': {
      const reference = textOf(values, 'reference');
      const limit = limitOf(textOf(values, 'limit') ?? DEFAULT_LIMIT);
      return {
        name,
        limit,
        ...ago,
        ...(reference === undefined ? {} : { reference }),
        asJson: values['json'] === true,
      };
    }
    case 'resend':
      if (argument === undefined) throw new UsageError('"resend" takes the id of a callback, which "events" lists.');
      return { name, callbackId: argument };
  }
}

function settingsOf(values: Values, env: NodeJS.ProcessEnv): Settings {
  const url = textOf(values, 'url') ?? env['GATEWAY_URL'] ?? DEFAULT_URL;
  const address = webAddressIn(url);
  if (address === undefined) throw new UsageError(`"${url}" is not the address of a gateway.`);
  if (!isSafeAddress(address) && values['allow-http'] !== true) {
    throw new UsageError(`"${url}" must begin with https://, or others could read the API password on its way.`);
  }
  const account = textOf(values, 'account') ?? env['GATEWAY_ACCOUNT'];
  if (account === undefined || account === '')
    throw new UsageError(`The account at ${url} is missing: set GATEWAY_ACCOUNT or --account.`);
  return { url: url.replace(/(?<!\/)\/+$/, ''), account, password: passwordOf(url, values, env) };
}

function passwordOf(url: string, values: Values, env: NodeJS.ProcessEnv): string {
  const file = textOf(values, 'password-file') ?? env['GATEWAY_PASSWORD_FILE'];
  const password = file === undefined ? env['GATEWAY_PASSWORD'] : readPassword(file);
  if (password !== undefined && password !== '') return password;
  throw new UsageError(`The API password for ${url} is missing: set GATEWAY_PASSWORD or --password-file.`);
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`The password file cannot be read: ${(error as Error).message}.`);
  }
}

function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** `3000/path` and `localhost:3000/path` are short for `http://localhost:3000/path`. */
function targetOf(given: string | undefined): URL {
  if (given === undefined)
    throw new UsageError('The target is missing: set --forward-to, e.g. http://localhost:3000/callback.');
  const withHost = /^\d{1,5}(\/|$)/.test(given) ? `localhost:${given}` : given;
  const target = webAddressIn(withHost.includes('://') ? withHost : `http://${withHost}`);
  if (target === undefined) throw new UsageError(`"${given}" is not an address to forward to.`);
  return target;
}

function webAddressIn(text: string): URL | undefined {
  if (!/^https?:\/\/[^/]/.test(text)) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function secondsOf(duration: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(duration) ?? [];
  const seconds = UNIT_SECONDS[unit];
  if (count === undefined || seconds === undefined)
    throw new UsageError(`"${duration}" is not a duration such as 90s, 30m, 2h or 3d.`);
  return Number(count) * seconds;
}

function limitOf(text: string): number {
  const limit = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw new UsageError(`--limit is a number from 1 to ${MAX_LIMIT}.`);
  return limit;
}
