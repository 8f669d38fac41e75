import type { NotCalledOff } from '../domain/decide';
import { decideCallOff, decideCancelled } from '../domain/decide';
import type { Scope, WideScope } from '../domain/holds';
import { covers, nameOf } from '../domain/holds';
import type { PayoutStateKind } from '../domain/payout';
import { isOpen } from '../domain/payout';
import type { BatchOperations } from './batch-ports';
import type { Accounts, Payouts, Ports } from './ports';
import { recordDecision } from './submit-payout';

/** Payouts that one `cancel` ends at most; the operator's command line repeats it. */
export const CANCELLED_AT_ONCE = 500;

/** Open payouts of a scope. */
export interface OpenPayouts {
  /** Nothing of these leaves while they are held. */
  waiting: number;
  /** Their call may be running, or its outcome is unknown. A hold only keeps them from being sent again. */
  onTheirWay: number;
  /** A bank has them, or a payment file. */
  withBank: number;
}

/** Where operators' commands find payouts: in the store, and in the open batches of a connector that writes files. */
export interface HoldingPorts extends Ports {
  accounts: Accounts;
  batches: BatchOperations | undefined;
}

/** `known`: it was held before. `full`: too many holds. `open` is undefined if the payouts could not be counted in time. */
export type Held = { result: 'held' | 'known'; open: OpenPayouts | undefined } | { result: Unheld };
export type Unheld = Unknown | 'full' | NotCalledOff;
/** There is no such payout or account. */
export type Unknown = 'unknown-payout' | 'unknown-account';

/** From its return on, the payouts of the scope that may still reach a bank are those `onTheirWay`. */
export async function holdPayouts(ports: HoldingPorts, scope: Scope, operator: string): Promise<Held> {
  const unknown = await unknownIn(ports, scope);
  if (unknown !== undefined) return { result: unknown };
  const result = await ports.holds.hold(scope, operator);
  if (result === 'full') return { result };
  // Only what is read after the hold was stored tells what it did not stop.
  const open = await openPayouts(ports, scope).catch((error: unknown) => notCounted(ports, scope, error));
  if (scope.kind === 'payout' && open !== undefined && open.waiting + open.onTheirWay === 0) {
    await ports.holds.release(scope);
    return { result: open.withBank > 0 ? 'with-bank' : 'ended' };
  }
  recordAction(ports, operator, 'hold', scope, { result, ...open });
  return { result, open };
}

/** A hold on a misspelt name would hold nothing. */
async function unknownIn({ payouts, accounts }: HoldingPorts, scope: Scope): Promise<Unknown | undefined> {
  switch (scope.kind) {
    case 'payout':
      return (await payouts.load(scope.reference)) === null ? 'unknown-payout' : undefined;
    case 'account':
      return (await accounts.findLatest(scope.merchantAccount)) === undefined ? 'unknown-account' : undefined;
    case 'all':
      return undefined;
  }
}

async function openPayouts({ payouts, batches }: HoldingPorts, scope: Scope): Promise<OpenPayouts> {
  const counts = scope.kind === 'payout' ? await stateOf(payouts, scope.reference) : await payouts.countOpen(scope);
  const inOpenBatch = (await batches?.countWaiting(scope)) ?? 0;
  const { screened = 0, held = 0, submitting = 0, unknown = 0, submitted = 0 } = counts;
  return {
    waiting: screened + held + inOpenBatch,
    onTheirWay: submitting + unknown,
    withBank: Math.max(0, submitted - inOpenBatch),
  };
}

/** The hold stands without the figures, and its operator must not believe otherwise. */
function notCounted({ logger }: Ports, scope: Scope, error: unknown): undefined {
  logger.error('the payouts of a hold could not be counted', { scope: nameOf(scope), error });
}

async function stateOf(payouts: Payouts, reference: string): Promise<Partial<Record<PayoutStateKind, number>>> {
  const payout = await payouts.load(reference);
  return payout === null ? {} : { [payout.state.kind]: 1 };
}

/** Names of the holds that still cover the scope; undefined if the scope itself was not held. */
export async function releasePayouts(ports: Ports, scope: Scope, operator: string): Promise<string[] | undefined> {
  if (!(await ports.holds.release(scope))) return undefined;
  const stillHeldBy = (await holdsOver(ports, scope)).map(nameOf);
  recordAction(ports, operator, 'release', scope, { stillHeldBy });
  return stillHeldBy;
}

/** Releases single payouts that have ended, so that their holds do not use up the bound on all. */
export async function releaseEnded({
  holds,
  payouts,
  logger,
}: Pick<Ports, 'holds' | 'payouts' | 'logger'>): Promise<void> {
  const held = (await holds.read()).flatMap(({ scope }) => (scope.kind === 'payout' ? [scope.reference] : []));
  if (held.length === 0) return;
  const open = new Set(await payouts.notEnded(held));
  const ended = held.filter((reference) => !open.has(reference));
  if (ended.length === 0) return;
  await holds.releaseAll(ended.map((reference) => ({ kind: 'payout', reference })));
  logger.info('holds on payouts that have ended were released', { count: ended.length });
}

/** The holds that cover everything in the scope. */
async function holdsOver(ports: Ports, scope: Scope): Promise<Scope[]> {
  const held = (await ports.holds.read()).map((hold) => hold.scope);
  if (scope.kind !== 'payout') return held.filter((one) => one.kind === 'all' || nameOf(one) === nameOf(scope));
  const payout = await ports.payouts.load(scope.reference);
  return payout === null ? [] : held.filter((one) => covers(one, payout));
}

/** `ended`: how many this call ended; `more`: others wait, so call again. `with-bank` and `ended` are of one payout. */
export type Cancelled = { result: 'cancelled'; ended: number; more: boolean } | { result: Uncancelled };
export type Uncancelled = Unknown | 'not-held' | NotCalledOff;

/**
 * Ends held payouts that no bank has: those that wait in the store, and those in open batches. A hold must cover the
 * scope, so that nothing of it leaves meanwhile.
 */
export async function cancelPayouts(ports: HoldingPorts, scope: Scope, operator: string): Promise<Cancelled> {
  const cancelled = await (scope.kind === 'payout' ? cancelOne(ports, scope) : cancelMany(ports, scope));
  if (cancelled.result === 'cancelled') recordAction(ports, operator, 'cancel', scope, { ended: cancelled.ended });
  return cancelled;
}

async function cancelOne(ports: HoldingPorts, scope: Scope & { kind: 'payout' }): Promise<Cancelled> {
  const payout = await ports.payouts.load(scope.reference);
  if (payout === null) return { result: 'unknown-payout' };
  if (!isOpen(payout.state)) return { result: 'ended' };
  if (payout.state.kind !== 'held' && (await holdsOver(ports, scope)).length === 0) return { result: 'not-held' };
  const result = await callOff(ports, scope.reference);
  if (result !== 'called-off') return { result };
  await ports.holds.release(scope);
  return { result: 'cancelled', ended: 1, more: false };
}

async function cancelMany(ports: HoldingPorts, scope: WideScope): Promise<Cancelled> {
  const unknown = await unknownIn(ports, scope);
  if (unknown !== undefined) return { result: unknown };
  if ((await holdsOver(ports, scope)).length === 0) return { result: 'not-held' };
  const stored = await ports.payouts.notSubmitted(scope, CANCELLED_AT_ONCE);
  const room = CANCELLED_AT_ONCE - stored.length;
  const inBatches = room > 0 ? ((await ports.batches?.waiting(scope, room)) ?? []) : [];
  const references = [...stored, ...inBatches];
  const results = await Promise.all(references.map((reference) => callOff(ports, reference)));
  const ended = results.filter((result) => result === 'called-off').length;
  return { result: 'cancelled', ended, more: references.length >= CANCELLED_AT_ONCE };
}

/**
 * The condition on the payout's version, or the batch's on its member, decides against a submission or a cut. The batch
 * comes first: what has ended here must not be left in one.
 */
async function callOff(ports: HoldingPorts, reference: string): Promise<'called-off' | NotCalledOff> {
  const isWithdrawn = (await ports.batches?.withdraw(reference)) ?? false;
  const { stored, rejection } = await ports.handle<NotCalledOff>(reference, (payout) =>
    payout === null ? 'ended' : decideCallOff(payout),
  );
  if (rejection !== 'with-bank' || stored === null) return rejection ?? 'called-off';
  if (!isWithdrawn) return 'with-bank';
  await recordDecision(ports, stored, decideCancelled);
  return 'called-off';
}

/** The one place that records what operators do here. */
function recordAction(
  { logger }: Pick<Ports, 'logger'>,
  operator: string,
  action: 'hold' | 'release' | 'cancel',
  scope: Scope,
  facts: Record<string, unknown>,
): void {
  logger.warn('an operator changed the holds on payouts', { operator, action, scope: nameOf(scope), ...facts });
}
