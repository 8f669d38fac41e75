import { Type } from '@sinclair/typebox';
import type { AxiosInstance } from 'axios';
import { isAxiosError } from 'axios';
import { calledAddress } from './called-address';
import { identityTokenFrom } from './callers';
import { internalTlsCallerSettings } from './certificates';
import { loadConfig } from './config';
import { ConfigurationError } from './configuration-error';
import { messageOf } from './errors';
import { closeHttpClient, createHttpClient } from './http-client';
import { requireProfile } from './profile';
import type { Environment } from './secret-settings';

type Query = Record<string, string>;
export type Print = (line: string) => void;

/** A service's answer to an operator: status and body. On failure the body's `error` says what is wrong. */
export interface OperatorAnswer<T> {
  status: number;
  data: T & { error?: string };
}

export interface OperatorApi {
  /** Returns the body of a 200. @throws Error with one sentence for any other status */
  ask<T>(method: 'GET' | 'POST', path: string, query?: Query): Promise<T>;
  /** The same with any status, for the caller to read. */
  request<T>(method: 'GET' | 'POST', path: string, query?: Query): Promise<OperatorAnswer<T>>;
  /** The body of an answer that must be a 200. */
  accepted<T>(answer: OperatorAnswer<T>): T;
}

/** A command line for operators that talks to the internal port of one service. */
export interface OperatorCommands<Command extends { name: string }> {
  usage: string;
  /** Its name in messages. */
  service: string;
  /** Of its internal port: the setting, and where a service on this machine listens. */
  address: { setting: string; default: string };
  /** Has that setting, the operator's identity, and the authority of the service's certificate. */
  env: Environment;
  timeoutMs: number;
  /** The command in the arguments; undefined if they are invalid. */
  parse(args: readonly string[]): Command | undefined;
  execute(command: Command, api: OperatorApi, print: Print): Promise<void>;
}

const FAILED = 1;
const WRONG_USAGE = 2;

/** The service's own complaint about the arguments. */
class WrongArguments extends Error {}

/** Runs one command. @returns the exit code: 0, 1 if it failed, 2 for wrong usage */
export async function runOperatorCommand<Command extends { name: string }>(
  args: readonly string[],
  commands: OperatorCommands<Command>,
  print: Print,
): Promise<number> {
  const command = args[0] === 'help' ? undefined : commands.parse(args);
  if (command === undefined) {
    if (args.length > 0 && args[0] !== 'help') print(`Wrong arguments: ${args.join(' ')}`);
    print(commands.usage);
    return args[0] === 'help' ? 0 : WRONG_USAGE;
  }
  let http: AxiosInstance | undefined;
  try {
    const called = portOf(commands);
    http = createHttpClient({ ...called, timeoutMs: commands.timeoutMs });
    await commands.execute(command, operatorApi(http, commands.service, called.baseUrl), print);
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${messageOf(error)}`);
    return error instanceof WrongArguments || error instanceof ConfigurationError ? WRONG_USAGE : FAILED;
  } finally {
    if (http !== undefined) closeHttpClient(http);
  }
}

/** @throws ConfigurationError if a setting is wrong, or what production refuses */
function portOf({ address, env }: Pick<OperatorCommands<never>, 'address' | 'env'>) {
  const { setting, default: local } = address;
  const url = calledAddress({ whose: 'own', default: local, description: 'Internal port of a service' });
  const config = loadConfig(Type.Object({ ...internalTlsCallerSettings, [setting]: url }), env);
  const { INTERNAL_TLS_CA_FILE: caFile, [setting]: baseUrl } = config as Readonly<Record<string, string | undefined>>;
  return { baseUrl: baseUrl ?? local, caFile, identityToken: identityTokenFrom(env) };
}

function operatorApi(http: AxiosInstance, service: string, url: string): OperatorApi {
  async function request<T>(method: 'GET' | 'POST', path: string, query: Query = {}): Promise<OperatorAnswer<T>> {
    try {
      const { status, data } = await http.request<T & { error?: string }>({ method, url: path, params: query });
      return { status, data };
    } catch (error) {
      if (!isAxiosError(error) || error.code !== 'ECONNREFUSED') throw error;
      throw new Error(`${service} does not answer at ${url}: is the gateway running?`, { cause: error });
    }
  }
  function accepted<T>({ status, data }: OperatorAnswer<T>): T {
    if (status === 200) return data;
    const reason = data.error ?? `${service} answers ${status}`;
    throw status === 400 ? new WrongArguments(reason) : new Error(reason);
  }
  return { request, accepted, ask: async (...question) => accepted(await request(...question)) };
}

/** Reads `--name value` pairs; undefined if one is unknown or has no value. */
export function parseOptions(args: readonly string[], names: readonly string[]): Query | undefined {
  const query: Query = {};
  for (let index = 0; index < args.length; index += 2) {
    const option = names.find((one) => args[index] === `--${one}`);
    const value = args[index + 1];
    if (option === undefined || value === undefined) return undefined;
    query[option] = value;
  }
  return query;
}

/** The single id of a command like `show ID`; undefined if there is none, or more. */
export function parseId(args: readonly string[]): string | undefined {
  const [id] = args;
  return id === undefined || id.startsWith('-') || args.length !== 1 ? undefined : id;
}

/**
 * Runs a command line as a process: prints, and exits with its code. Like a service it works only under a named profile,
 * because the profile decides what it refuses.
 */
export function runCommandLine(
  run: (args: readonly string[], env: NodeJS.ProcessEnv, print: Print) => Promise<number>,
) {
  const print: Print = (line) => void process.stdout.write(`${line}\n`);
  const underProfile = async (): Promise<number> => {
    requireProfile(process.env);
    return run(process.argv.slice(2), process.env, print);
  };
  underProfile().then(
    (exitCode) => process.exit(exitCode),
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exit(error instanceof ConfigurationError ? WRONG_USAGE : FAILED);
    },
  );
}
