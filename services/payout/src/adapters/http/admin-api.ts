import type { Response } from 'express';
import type { AuditLog } from '@gateway/audit';
import { requestOperator } from '@gateway/audit';
import type { ResponseCode } from '@gateway/contracts';
import type { CallerKind, InternalRoutes } from '@gateway/service-kit';
import { internalRoutes, wholeNumber } from '@gateway/service-kit';
import type { BankFacts, HoldReason } from '../../application/bank-ports';
import type { BatchOperations, BatchSummary, ReportException } from '../../application/batch-ports';
import type { Ports, ShownPayout } from '../../application/ports';
import { resolveNow } from '../../application/resolve-payouts';
import type { PayoutState, ScreeningRecord } from '../../domain/payout';
import { merchantStatus, PAYOUT_STATES } from '../../domain/payout';
import { isName } from './hold-api';

export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 500;

const OPERATORS: readonly CallerKind[] = ['operator'];

/** Times are RFC 3339. */
export interface PayoutSummary {
  reference: string;
  state: PayoutState['kind'];
  status: string;
  code: ResponseCode;
  merchantAccount: string;
  transactionUniqueId: string;
  amountE4: number;
  currency: string;
  acceptedAt: string;
  bank?: string;
  /** When the next work on it is due, if any. */
  dueAt?: string;
}

export interface PayoutDetails extends PayoutSummary {
  message: string;
  feeE4: number;
  instant: boolean;
  receiverCountry: string;
  /** Of a held one. */
  holdReason?: HoldReason;
  screening?: ScreeningRecord;
  bankFacts?: BankFacts;
  returnReason?: string;
  inquiries?: number;
  /** Message id of the file that contained it. */
  batch?: string;
}

export interface PayoutList {
  payouts: PayoutSummary[];
}

export interface BatchList {
  batches: BatchSummary[];
}

export interface ExceptionList {
  exceptions: ReportException[];
}

/** What operators' routes use besides payouts. */
export interface AdminPorts extends Ports {
  /** Every action has its entries there. */
  audit: Pick<AuditLog, 'record'>;
}

/**
 * For operators: `GET /admin/payouts?state=&account=&limit=` (newest first), `GET /admin/payouts/:reference`, `POST
 * /admin/payouts/:reference/retry` (asks the bank now; 409 if nothing is left to do). For connectors that collect
 * payouts into files `GET /admin/batches?limit=`, `GET /admin/exceptions?limit=` (reports that were not applied as a whole), `POST /admin/batches/cut` and `POST
 * /admin/batches/:messageId/rewrite`. 404 if there is none, 409 if it must not be written again, 400 for an invalid
 * query.
 */
export function adminRoutes(ports: AdminPorts, batches: BatchOperations | undefined): InternalRoutes {
  const routes = internalRoutes();
  addPayoutRoutes(routes, ports, batches);
  addBatchRoutes(routes, ports, batches);
  return routes;
}

function addPayoutRoutes(routes: InternalRoutes, ports: AdminPorts, batches: BatchOperations | undefined): void {
  routes.get('/admin/payouts', OPERATORS, async (request, response) => {
    const { state, account, limit } = request.query;
    const known = PAYOUT_STATES.find((one) => one === state);
    const rows = limitIn(limit, response);
    if (rows === undefined) return;
    if (state !== undefined && known === undefined) {
      return void response.status(400).json({ error: `state is one of ${PAYOUT_STATES.join(', ')}` });
    }
    if (account !== undefined && typeof account !== 'string') {
      return void response.status(400).json({ error: 'account is one name' });
    }
    const found = await ports.payouts.list({
      limit: rows,
      ...(known === undefined ? {} : { state: known }),
      ...(account === undefined ? {} : { merchantAccount: account }),
    });
    response.json({ payouts: found.map(summaryOf) } satisfies PayoutList);
  });
  routes.get('/admin/payouts/:reference', OPERATORS, async (request, response, caller) => {
    const payout = await ports.payouts.load(request.params.reference);
    if (payout === null) return void response.status(404).json({ error: 'no such payout' });
    const { reference } = payout;
    const details = await ports.audit.record(
      { operator: requestOperator(caller, request), action: 'payout.show', subject: reference },
      async () => detailsOf(payout, await batches?.batchOf(reference)),
    );
    response.json(details);
  });
  routes.post('/admin/payouts/:reference/retry', OPERATORS, async (request, response, caller) => {
    const known = await ports.payouts.load(request.params.reference);
    if (known === null) return void response.status(404).json({ error: 'no such payout' });
    const { reference } = known;
    const operator = requestOperator(caller, request);
    const payout = await ports.audit.record(
      { operator, action: 'payout.retry', subject: reference, before: auditedFields(known) },
      () => resolveNow(ports, reference),
      (resolved) => (typeof resolved === 'object' ? auditedFields(resolved) : {}),
    );
    if (payout === 'not-connected') {
      return void response.status(409).json({ error: 'nobody was asked: its bank is not connected (PAYOUT_BANK)' });
    }
    if (payout !== undefined) return void response.json(summaryOf(payout));
    const { state } = (await ports.payouts.load(reference)) ?? known;
    if (state.kind === 'held') response.status(409).json({ error: 'it is held; "holds" lists why' });
    else response.status(409).json({ error: `nothing is left to do: it is ${state.kind}` });
  });
}

/** Undefined if it is none; then the request is answered. */
function limitIn(given: unknown, response: Response): number | undefined {
  const limit = wholeNumber(given ?? String(LIST_LIMIT_DEFAULT), 1, LIST_LIMIT_MAX);
  if (limit === undefined) response.status(400).json({ error: `limit is a number from 1 to ${LIST_LIMIT_MAX}` });
  return limit;
}

function addBatchRoutes(
  routes: InternalRoutes,
  { audit }: Pick<AdminPorts, 'audit'>,
  batches: BatchOperations | undefined,
): void {
  routes.get('/admin/batches', OPERATORS, async (request, response) => {
    if (batches === undefined) return takesNoFiles(response);
    const limit = limitIn(request.query['limit'], response);
    if (limit !== undefined) response.json({ batches: await batches.batches(limit) } satisfies BatchList);
  });
  routes.get('/admin/exceptions', OPERATORS, async (request, response, caller) => {
    if (batches === undefined) return takesNoFiles(response);
    const limit = limitIn(request.query['limit'], response);
    if (limit === undefined) return;
    const found = await audit.record(
      { operator: requestOperator(caller, request), action: 'exceptions.show', subject: 'reports' },
      () => batches.exceptions(limit),
    );
    response.json({ exceptions: found } satisfies ExceptionList);
  });
  routes.post('/admin/batches/cut', OPERATORS, async (request, response, caller) => {
    if (batches === undefined) return takesNoFiles(response);
    const cut = await audit.record(
      { operator: requestOperator(caller, request), action: 'batches.cut', subject: 'open batches' },
      () => batches.cut(),
      (written) => ({ batches: written.map(({ messageId, payouts, totalE4 }) => ({ messageId, payouts, totalE4 })) }),
    );
    response.json({ batches: cut } satisfies BatchList);
  });
  routes.post('/admin/batches/:messageId/rewrite', OPERATORS, async (request, response, caller) => {
    if (batches === undefined) return takesNoFiles(response);
    const { messageId } = request.params;
    if (!isName(messageId)) return void response.status(404).json({ error: 'no such batch' });
    const batch = await audit.record(
      { operator: requestOperator(caller, request), action: 'batch.rewrite', subject: messageId },
      () => batches.rewrite(messageId),
      (written) => (typeof written === 'object' ? { state: written.state } : {}),
    );
    if (batch === undefined) response.status(404).json({ error: 'no such batch' });
    else if (batch !== 'not-to-be-written') response.json(batch);
    else
      response
        .status(409)
        .json({ error: 'not written again: its bank has reported on it, or it is about to be written by itself' });
  });
}

function auditedFields({ state }: Pick<ShownPayout, 'state'>) {
  return { state: state.kind, code: merchantStatus(state).code };
}

function takesNoFiles(response: Response): void {
  response.status(404).json({ error: 'no bank is connected that takes files' });
}

function summaryOf(payout: ShownPayout): PayoutSummary {
  const { status, code } = merchantStatus(payout.state);
  return {
    reference: payout.reference,
    state: payout.state.kind,
    status,
    code,
    merchantAccount: payout.merchantAccount,
    transactionUniqueId: payout.transactionUniqueId,
    amountE4: payout.amountE4,
    currency: payout.currency,
    acceptedAt: time(payout.acceptedAt),
    ...(payout.bank === undefined ? {} : { bank: payout.bank }),
    ...(payout.resolveAt === undefined ? {} : { dueAt: time(payout.resolveAt) }),
  };
}

function detailsOf(payout: ShownPayout, batch: string | undefined): PayoutDetails {
  const { state, feeE4, instant, receiverCountry, screening, bankFacts, inquiries } = payout;
  return {
    ...summaryOf(payout),
    message: merchantStatus(state).message,
    feeE4,
    instant,
    receiverCountry,
    ...(state.kind === 'held' ? { holdReason: state.reason } : {}),
    ...(screening === undefined ? {} : { screening }),
    ...(bankFacts === undefined ? {} : { bankFacts }),
    ...(state.kind === 'returned' ? { returnReason: state.reasonCode } : {}),
    ...(inquiries === undefined ? {} : { inquiries }),
    ...(batch === undefined ? {} : { batch }),
  };
}

function time(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
