import type { OperatorApi, Print } from '@gateway/service-kit';
import { parseId, parseOptions, runCommandLine, runOperatorCommand } from '@gateway/service-kit';
import type { DeliveryDetails, DeliveryList, DeliverySummary } from './adapters/http/admin-api';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from './adapters/http/admin-api';

const DEFAULT_ADMIN_URL = 'http://127.0.0.1:9202';
const TIMEOUT_MS = 10_000;
const USAGE = `usage: npm run callbacks -- list [--state pending|delivered|exhausted] [--account ACCOUNT] [--limit N] [--before CURSOR]
                                               newest first, at most ${LIST_LIMIT_MAX}; ${LIST_LIMIT_DEFAULT} unless given
       npm run callbacks -- show ID            one delivery with all its attempts
       npm run callbacks -- resend ID          sends it now, in any state; its schedule starts again
Uses the settings of the last npm start, or CALLBACK_ADMIN_URL, the internal port of callback-dispatcher
(${DEFAULT_ADMIN_URL}), and IDENTITY_TOKEN, the operator's token.`;
const COLUMNS = ['id', 'state', 'created', 'account', 'reference', 'address', 'attempts', 'next or ended'];

type Command = { name: 'list'; query: Record<string, string> } | { name: 'show' | 'resend'; id: string };

const LIST_OPTIONS = ['state', 'account', 'limit', 'before'];

/** The request for these arguments; undefined if they are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'list') {
    const query = parseOptions(rest, LIST_OPTIONS);
    return query && { name, query };
  }
  const id = parseId(rest);
  return (name === 'show' || name === 'resend') && id !== undefined ? { name, id } : undefined;
}

/** Runs one command. @returns the exit code: 0, 1 if it failed, 2 for wrong usage. */
export function runCli(args: readonly string[], env: NodeJS.ProcessEnv, print: Print): Promise<number> {
  return runOperatorCommand<Command>(
    args,
    {
      usage: USAGE,
      service: 'the dispatcher',
      address: { setting: 'CALLBACK_ADMIN_URL', default: DEFAULT_ADMIN_URL },
      env,
      timeoutMs: TIMEOUT_MS,
      parse: parseArguments,
      execute,
    },
    print,
  );
}

async function execute(command: Command, { ask }: OperatorApi, print: Print): Promise<void> {
  if (command.name === 'list') {
    const list = await ask<DeliveryList>('GET', '/deliveries', command.query);
    if (list.deliveries.length > 0) print(COLUMNS.join('\t'));
    for (const delivery of list.deliveries) print(lineOf(delivery));
    print(`${list.deliveries.length} ${list.deliveries.length === 1 ? 'delivery' : 'deliveries'}`);
    if (list.next !== undefined) print(`more: --before ${list.next}`);
    return;
  }
  const path = `/deliveries/${encodeURIComponent(command.id)}`;
  if (command.name === 'show') print(JSON.stringify(await ask<DeliveryDetails>('GET', path), null, 2));
  else print(lineOf(await ask<DeliverySummary>('POST', `${path}/resend`)));
}

function lineOf(delivery: DeliverySummary): string {
  const { id, state, createdAt, merchantAccount, reference, origin, attempts, nextAttemptAt, endedAt } = delivery;
  const when = nextAttemptAt ?? endedAt ?? '-';
  return [id, state, createdAt, merchantAccount, reference, origin, attempts, when].join('\t');
}

if (require.main === module) runCommandLine(runCli);
