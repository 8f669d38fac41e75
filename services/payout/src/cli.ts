import { formatAmountE4 } from '@gateway/contracts';
import type { OperatorApi, Print } from '@gateway/service-kit';
import { parseId, parseOptions, runCommandLine, runOperatorCommand } from '@gateway/service-kit';
import type { BatchList, ExceptionList, PayoutDetails, PayoutList, PayoutSummary } from './adapters/http/admin-api';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from './adapters/http/admin-api';
import type { CancelAnswer, HoldAnswer, HoldList, ReleaseAnswer } from './adapters/http/hold-api';
import type { BatchSummary } from './application/batch-ports';
import { PAYOUT_STATES } from './domain/payout';

const DEFAULT_QUERY_URL = 'http://127.0.0.1:9203';
/** Long, because `retry` waits for the bank. */
const TIMEOUT_MS = 30_000;
const USAGE = `usage: npm run payouts -- list [--state STATE] [--account ACCOUNT] [--limit N]
                                          newest first, at most ${LIST_LIMIT_MAX}; ${LIST_LIMIT_DEFAULT} unless given
       npm run payouts -- show REFERENCE  one payout: its screening, the answers of the bank, the next check
       npm run payouts -- retry REFERENCE asks the bank now for the outcome of a pending payout
       npm run payouts -- hold SCOPE      nothing of the scope leaves for a bank or a payment file; it waits
       npm run payouts -- release SCOPE   ends a hold: what waited goes on
       npm run payouts -- cancel SCOPE    ends held payouts that no bank has, with ERROR 3300; cannot be undone
       npm run payouts -- holds           what is held
       npm run payouts -- batches [--limit N]
                                          payment files, newest first
       npm run payouts -- exceptions [--limit N]
                                          reports of banks that were not applied as a whole, newest first, and why
       npm run payouts -- cut             closes every open batch now
       npm run payouts -- retry BATCH     writes the file of a batch again, under the same message id
SCOPE: one REFERENCE, --account ACCOUNT, or --all.
States: ${PAYOUT_STATES.join(', ')}.
Uses the settings of the last npm start, or PAYOUT_QUERY_URL, the internal port of payout
(${DEFAULT_QUERY_URL}), and IDENTITY_TOKEN, the operator's token.`;
const PAYOUT_COLUMNS = ['reference', 'state', 'code', 'accepted', 'account', 'amount', 'bank', 'due'];
const BATCH_COLUMNS = ['batch', 'state', 'created', 'reported', 'debtor', 'kind', 'payouts', 'total EUR', 'problem'];

type Command =
  | { name: 'list' | 'batches' | 'exceptions'; query: Record<string, string> }
  | { name: 'show' | 'retry'; id: string }
  | { name: 'cut' | 'holds' }
  | { name: HoldCommand; scope: Record<string, string> };

const HOLD_COMMANDS = ['hold', 'release', 'cancel'] as const;
type HoldCommand = (typeof HOLD_COMMANDS)[number];

const OPTIONS = { list: ['state', 'account', 'limit'], batches: ['limit'], exceptions: ['limit'] };

/** The command in the arguments; undefined if they are invalid. */
export function parseArguments(args: readonly string[]): Command | undefined {
  const [name, ...rest] = args;
  if (name === 'list' || name === 'batches' || name === 'exceptions') {
    const query = parseOptions(rest, OPTIONS[name]);
    return query && { name, query };
  }
  if (name === 'cut' || name === 'holds') return rest.length === 0 ? { name } : undefined;
  const holdCommand = HOLD_COMMANDS.find((one) => one === name);
  if (holdCommand !== undefined) {
    const scope = parseScope(rest);
    return scope && { name: holdCommand, scope };
  }
  const id = parseId(rest);
  return (name === 'show' || name === 'retry') && id !== undefined ? { name, id } : undefined;
}

/** As the query of the service's routes. */
function parseScope(args: readonly string[]): Record<string, string> | undefined {
  if (args.length === 1 && args[0] === '--all') return { all: 'yes' };
  const account = parseOptions(args, ['account']);
  if (account?.['account'] !== undefined && args.length === 2) return account;
  const payout = parseId(args);
  return payout === undefined ? undefined : { payout };
}

/** Runs one command. @returns the exit code: 0, 1 when it failed, 2 for wrong usage. */
export function runCli(args: readonly string[], env: NodeJS.ProcessEnv, print: Print): Promise<number> {
  return runOperatorCommand<Command>(
    args,
    {
      usage: USAGE,
      service: 'the payout service',
      address: { setting: 'PAYOUT_QUERY_URL', default: DEFAULT_QUERY_URL },
      env,
      timeoutMs: TIMEOUT_MS,
      parse: parseArguments,
      execute,
    },
    print,
  );
}

async function execute(command: Command, api: OperatorApi, print: Print): Promise<void> {
  switch (command.name) {
    case 'list': {
      const { payouts } = await api.ask<PayoutList>('GET', '/admin/payouts', command.query);
      if (payouts.length > 0) print(PAYOUT_COLUMNS.join('\t'));
      for (const payout of payouts) print(payoutLine(payout));
      print(`${payouts.length} ${payouts.length === 1 ? 'payout' : 'payouts'}`);
      return;
    }
    case 'show':
      print(JSON.stringify(await api.ask<PayoutDetails>('GET', payoutPath(command.id)), null, 2));
      return;
    case 'retry':
      print(await retry(api, command.id));
      return;
    case 'holds': {
      const { holds } = await api.ask<HoldList>('GET', '/admin/holds');
      for (const { scope, since, by } of holds) print(`${scope}\tsince ${since}\tby ${by}`);
      print(`${holds.length} ${holds.length === 1 ? 'hold' : 'holds'}`);
      return;
    }
    case 'hold':
      printHold(await api.ask<HoldAnswer>('POST', '/admin/holds', command.scope), print);
      return;
    case 'release':
      printRelease(await api.ask<ReleaseAnswer>('POST', '/admin/holds/release', command.scope), print);
      return;
    case 'cancel':
      await cancelAll(api, command.scope, print);
      return;
    case 'batches':
      printBatches(await api.ask<BatchList>('GET', '/admin/batches', command.query), print);
      return;
    case 'exceptions':
      printExceptions(await api.ask<ExceptionList>('GET', '/admin/exceptions', command.query), print);
      return;
    case 'cut':
      printBatches(await api.ask<BatchList>('POST', '/admin/batches/cut'), print);
      return;
  }
}

function printHold({ scope, isNew, waiting, onTheirWay = 0, withBank = 0 }: HoldAnswer, print: Print): void {
  print(`${scope}: ${isNew ? 'held' : 'was held already'}`);
  if (waiting === undefined) {
    print('its payouts could not be counted; "list --state submitting" and "--state unknown" show those on their way');
    return;
  }
  print(`${waiting} wait, and so will new ones`);
  if (onTheirWay > 0) {
    print(
      `${onTheirWay} may be on their way: their calls to a bank run or have no outcome yet; they are not sent again`,
    );
  }
  if (withBank > 0) print(`${withBank} are with a bank or in a payment file, and can be neither held nor cancelled`);
}

function printRelease({ scope, stillHeldBy }: ReleaseAnswer, print: Print): void {
  print(`${scope}: released`);
  if (stillHeldBy.length > 0) print(`still held by: ${stillHeldBy.join(', ')}`);
}

/** The service ends a bounded number of payouts per request. */
async function cancelAll(api: OperatorApi, scope: Record<string, string>, print: Print): Promise<void> {
  let total = 0;
  for (;;) {
    const { scope: name, ended, more } = await api.ask<CancelAnswer>('POST', '/admin/holds/cancel', scope);
    total += ended;
    if (more && ended > 0) continue;
    print(`${name}: ${total} cancelled, with ERROR 3300`);
    if (more) print('others still wait: cancel again');
    return;
  }
}

/** A payout's reference, or else a batch's message id. */
async function retry({ request, accepted }: OperatorApi, id: string): Promise<string> {
  const payout = await request<PayoutSummary>('POST', `${payoutPath(id)}/retry`);
  if (payout.status !== 404) return payoutLine(accepted(payout));
  const batch = await request<BatchSummary>('POST', `/admin/batches/${encodeURIComponent(id)}/rewrite`);
  if (batch.status === 404) throw new Error('there is no such payout or batch');
  return batchLine(accepted(batch));
}

function payoutPath(reference: string): string {
  return `/admin/payouts/${encodeURIComponent(reference)}`;
}

function payoutLine(payout: PayoutSummary): string {
  const { reference, state, code, acceptedAt, merchantAccount, amountE4, currency, bank, dueAt } = payout;
  const amount = `${formatAmountE4(amountE4)} ${currency}`;
  return [reference, state, code, acceptedAt, merchantAccount, amount, bank ?? '-', dueAt ?? '-'].join('\t');
}

function printBatches({ batches }: BatchList, print: Print): void {
  if (batches.length > 0) print(BATCH_COLUMNS.join('\t'));
  for (const batch of batches) print(batchLine(batch));
  print(`${batches.length} ${batches.length === 1 ? 'batch' : 'batches'}`);
}

function printExceptions({ exceptions }: ExceptionList, print: Print): void {
  for (const { file, at, messageId = '-', problems } of exceptions) {
    print([new Date(at).toISOString(), file, messageId].join('\t'));
    for (const problem of problems) print(`\t${problem}`);
  }
  print(`${exceptions.length} ${exceptions.length === 1 ? 'exception' : 'exceptions'}`);
}

function batchLine(batch: BatchSummary): string {
  const { messageId, state, createdAt, reportedAt, debtor, instant, payouts, totalE4, problem } = batch;
  const created = new Date(createdAt).toISOString();
  const reported = reportedAt === undefined ? '-' : new Date(reportedAt).toISOString();
  const kind = instant ? 'instant' : 'SCT';
  const total = formatAmountE4(totalE4);
  return [messageId, state, created, reported, debtor, kind, payouts, total, problem ?? '-'].join('\t');
}

if (require.main === module) runCommandLine(runCli);
