import type { AxiosInstance } from 'axios';
import { formatAmountE4 } from '@gateway/contracts';
import { createHttpClient, messageOf } from '@gateway/service-kit';
import type { BatchList, PayoutDetails, PayoutList, PayoutSummary } from './adapters/http/admin-api';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from './adapters/http/admin-api';
import type { BatchSummary } from './application/batch-ports';
import { PAYOUT_STATES } from './domain/payout';

const DEFAULT_QUERY_URL = 'http://127.0.0.1:9203';
/** Asking a bank takes as long as the bank does. */
const TIMEOUT_MS = 30_000;
const USAGE = `usage: npm run payouts -- list [--state STATE] [--limit N]
                                          newest first, at most ${LIST_LIMIT_MAX}; ${LIST_LIMIT_DEFAULT} unless given
       npm run payouts -- show REFERENCE  one payout: its screening, what the bank said, when it is looked after next
       npm run payouts -- retry REFERENCE asks the bank now what became of a payout that is under way
       npm run payouts -- batches [--limit N]
                                          files of payouts for a bank that takes files, newest first
       npm run payouts -- cut             closes every open batch now
       npm run payouts -- retry BATCH     writes the file of a batch once more, under the same message id
States: ${PAYOUT_STATES.join(', ')}.
The settings of the last npm start serve, else: PAYOUT_QUERY_URL says where the payout service's internal port is
(${DEFAULT_QUERY_URL}); SERVICE_TOKEN if it asks for one.`;
const PAYOUT_COLUMNS = ['reference', 'state', 'code', 'accepted', 'account', 'amount', 'bank', 'due'];
const BATCH_COLUMNS = ['batch', 'state', 'created', 'debtor', 'kind', 'payouts', 'total EUR'];

type Command =
  | { name: 'list' | 'batches'; query: Record<string, string> }
  | { name: 'show' | 'retry'; id: string }
  | { name: 'cut' };

const OPTIONS = { list: ['state', 'limit'], batches: ['limit'] };

/** What the arguments ask for; undefined when they make no sense. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'list' || name === 'batches') {
    const query = parseOptions(rest, OPTIONS[name]);
    return query && { name, query };
  }
  if (name === 'cut') return rest.length === 0 ? { name } : undefined;
  const [id] = rest;
  if ((name !== 'show' && name !== 'retry') || id === undefined || id.startsWith('-') || rest.length !== 1) {
    return undefined;
  }
  return { name, id };
}

function parseOptions(args: readonly string[], names: readonly string[]): Record<string, string> | undefined {
  const query: Record<string, string> = {};
  for (let index = 0; index < args.length; index += 2) {
    const option = names.find((one) => args[index] === `--${one}`);
    const value = args[index + 1];
    if (option === undefined || value === undefined) return undefined;
    query[option] = value;
  }
  return query;
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
  const baseUrl = env['PAYOUT_QUERY_URL'] || DEFAULT_QUERY_URL;
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
  switch (command.name) {
    case 'list': {
      const { payouts } = await ask<PayoutList>(http, 'GET', '/admin/payouts', command.query);
      if (payouts.length > 0) print(PAYOUT_COLUMNS.join('\t'));
      for (const payout of payouts) print(payoutLine(payout));
      print(`${payouts.length} ${payouts.length === 1 ? 'payout' : 'payouts'}`);
      return;
    }
    case 'show':
      print(JSON.stringify(await ask<PayoutDetails>(http, 'GET', payoutPath(command.id)), null, 2));
      return;
    case 'retry':
      print(await retry(http, command.id));
      return;
    case 'batches':
      printBatches(await ask<BatchList>(http, 'GET', '/admin/batches', command.query), print);
      return;
    case 'cut':
      printBatches(await ask<BatchList>(http, 'POST', '/admin/batches/cut'), print);
      return;
  }
}

/** A payout's reference, or else a batch's message id. */
async function retry(http: AxiosInstance, id: string): Promise<string> {
  const { status, data } = await http.post<PayoutSummary & Problem>(`${payoutPath(id)}/retry`);
  if (status !== 404) return payoutLine(accepted(status, data));
  const batch = await http.post<BatchSummary & Problem>(`/admin/batches/${encodeURIComponent(id)}/rewrite`);
  if (batch.status === 404) throw new Error('no such payout, and no such batch');
  return batchLine(accepted(batch.status, batch.data));
}

interface Problem {
  error?: string;
}

function accepted<T extends Problem>(status: number, data: T): T {
  if (status !== 200) throw new Error(data.error ?? `the payout service answers ${status}`);
  return data;
}

async function ask<T>(
  http: AxiosInstance,
  method: string,
  url: string,
  params: Record<string, string> = {},
): Promise<T> {
  const { status, data } = await http.request<T & Problem>({ method, url, params });
  return accepted(status, data);
}

function payoutPath(reference: string): string {
  return `/admin/payouts/${encodeURIComponent(reference)}`;
}

function payoutLine(payout: PayoutSummary): string {
  const { reference, state, code, acceptedAt, merchantAccount, amountE4, currency, bank, dueAt } = payout;
  const amount = `${formatAmountE4(amountE4)} ${currency}`;
  return [reference, state, code, acceptedAt, merchantAccount, amount, bank ?? '-', dueAt ?? '-'].join('\t');
}

function printBatches({ batches }: BatchList, print: (line: string) => void): void {
  if (batches.length > 0) print(BATCH_COLUMNS.join('\t'));
  for (const batch of batches) print(batchLine(batch));
  print(`${batches.length} ${batches.length === 1 ? 'batch' : 'batches'}`);
}

function batchLine({ messageId, state, createdAt, debtor, instant, payouts, totalE4 }: BatchSummary): string {
  const created = new Date(createdAt).toISOString();
  return [messageId, state, created, debtor, instant ? 'instant' : 'SCT', payouts, formatAmountE4(totalE4)].join('\t');
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
