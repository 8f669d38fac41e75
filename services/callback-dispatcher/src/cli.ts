import type { AxiosInstance } from 'axios';
import { createHttpClient, messageOf } from '@gateway/service-kit';
import type { DeliveryDetails, DeliveryList, DeliverySummary } from './adapters/http/admin-api';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from './adapters/http/admin-api';

const DEFAULT_ADMIN_URL = 'http://127.0.0.1:9202';
const TIMEOUT_MS = 10_000;
const USAGE = `usage: npm run callbacks -- list [--state pending|delivered|exhausted] [--account ACCOUNT] [--limit N] [--before CURSOR]
                                               newest first, at most ${LIST_LIMIT_MAX}; ${LIST_LIMIT_DEFAULT} unless given
       npm run callbacks -- show ID            one delivery with all its attempts
       npm run callbacks -- resend ID          makes it due now, whatever became of it; its schedule begins again
The settings of the last npm start serve, else: CALLBACK_ADMIN_URL says where the dispatcher's admin port is
(${DEFAULT_ADMIN_URL}); SERVICE_TOKEN if it asks for one.`;
const COLUMNS = ['id', 'state', 'created', 'account', 'reference', 'address', 'attempts', 'next or ended'];

type Command = { name: 'list'; query: Record<string, string> } | { name: 'show' | 'resend'; id: string };

const LIST_OPTIONS = ['state', 'account', 'limit', 'before'];

/** What the arguments ask for; undefined when they make no sense. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'list') return parseList(rest);
  const [id] = rest;
  if ((name !== 'show' && name !== 'resend') || id === undefined || id.startsWith('-') || rest.length !== 1) {
    return undefined;
  }
  return { name, id };
}

function parseList(args: readonly string[]): Command | undefined {
  const query: Record<string, string> = {};
  for (let index = 0; index < args.length; index += 2) {
    const option = LIST_OPTIONS.find((one) => args[index] === `--${one}`);
    const value = args[index + 1];
    if (option === undefined || value === undefined) return undefined;
    query[option] = value;
  }
  return { name: 'list', query };
}

/** Runs one command. @returns the exit code: 0, 1 when it failed, 2 for wrong usage. */
export async function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  if (args[0] === 'help') {
    print(USAGE);
    return 0;
  }
  const command = parseArguments(args);
  if (command === undefined) {
    print(USAGE);
    return 2;
  }
  const baseUrl = env['CALLBACK_ADMIN_URL'] || DEFAULT_ADMIN_URL;
  const http = createHttpClient({ baseUrl, timeoutMs: TIMEOUT_MS, serviceToken: env['SERVICE_TOKEN'] || undefined });
  try {
    await execute(command, http, print);
    return 0;
  } catch (error) {
    print(`${command.name} failed: ${messageOf(error)}`);
    return 1;
  }
}

async function execute(command: Command, http: AxiosInstance, print: (line: string) => void): Promise<void> {
  if (command.name === 'list') {
    const list = await ask<DeliveryList>(http, 'GET', '/deliveries', command.query);
    if (list.deliveries.length > 0) print(COLUMNS.join('\t'));
    for (const delivery of list.deliveries) print(lineOf(delivery));
    print(`${list.deliveries.length} ${list.deliveries.length === 1 ? 'delivery' : 'deliveries'}`);
    if (list.next !== undefined) print(`more: --before ${list.next}`);
    return;
  }
  const path = `/deliveries/${encodeURIComponent(command.id)}`;
  if (command.name === 'show') print(JSON.stringify(await ask<DeliveryDetails>(http, 'GET', path), null, 2));
  else print(lineOf(await ask<DeliverySummary>(http, 'POST', `${path}/resend`)));
}

async function ask<T>(
  http: AxiosInstance,
  method: string,
  url: string,
  params: Record<string, string> = {},
): Promise<T> {
  const { status, data } = await http.request<T & { error?: string }>({ method, url, params });
  if (status !== 200) throw new Error(data.error ?? `the dispatcher answers ${status}`);
  return data;
}

function lineOf(delivery: DeliverySummary): string {
  const { id, state, createdAt, merchantAccount, reference, origin, attempts, nextAttemptAt, endedAt } = delivery;
  const when = nextAttemptAt ?? endedAt ?? '-';
  return [id, state, createdAt, merchantAccount, reference, origin, attempts, when].join('\t');
}

if (require.main === module) {
  runCli(process.argv.slice(2), process.env, (line) => console.log(line)).then(
    (exitCode) => process.exit(exitCode),
    (error: unknown) => {
      console.error(messageOf(error));
      process.exit(1);
    },
  );
}
