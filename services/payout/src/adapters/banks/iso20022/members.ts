import { RESPONSE_CODES } from '@gateway/contracts';
import type { Filter } from '@gateway/mongo';
import { duplicateKeyIndex } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type {
  BankOutcome,
  Cancellation,
  Inquiry,
  PaymentInstruction,
  SubmitAnswer,
} from '../../../application/bank-ports';
import { HELD_COUNT_TIMEOUT_MS } from '../../../application/hold-ports';
import type { Scope } from '../../../domain/holds';
import { CANCELLABLE_STATES } from '../../../domain/iso20022/batch';
import { creditTransferOf } from '../../../domain/iso20022/credit-transfer';
import type { Manifests } from './manifests';
import type { Member, Records } from './records';
import { isNotBegun } from './records';
import type { Debtor } from './settings';

export interface Members {
  /**
   * Accepts a payout for the next file, once per reference. It may be called again after it threw: if that insert lands
   * late, it finds the reference taken, cancelled or not.
   */
  add(instruction: PaymentInstruction): Promise<SubmitAnswer>;
  inquire(reference: string): Promise<Inquiry>;
  /** Possible until the payout is in a file. A submission that arrives afterwards is refused. */
  cancel(reference: string): Promise<Cancellation>;
  /** Message id of the payout's file; undefined if it is in none. */
  batchOf(reference: string): Promise<string | undefined>;
  /** References of at most `limit` payouts of the scope that wait for a file. Throws for a limit below 1. */
  waiting(scope: Scope, limit: number): Promise<string[]>;
  /** Those that wait for a file, and those that a hold takes back out of one whose writing has not begun. */
  countWaiting(scope: Scope): Promise<number>;
  /** Cancels a payout that waits for a file. False if it does not. */
  withdraw(reference: string): Promise<boolean>;
}

export function createMembers(options: {
  records: Pick<Records, 'members' | 'batches'>;
  manifests: Pick<Manifests, 'reconcile'>;
  /** Undefined if the settings list no such account of ours. */
  debtorOf: (iban: string) => Debtor | undefined;
  now: () => number;
  logger: Logger;
}): Members {
  const { members, batches } = options.records;

  async function add(instruction: PaymentInstruction): Promise<SubmitAnswer> {
    const checked = creditTransferOf(instruction);
    if ('refusal' in checked) {
      return { kind: 'failed', code: RESPONSE_CODES.PAYOUT_INVALID, bank: { reasonDescription: checked.refusal } };
    }
    const { reference, merchantAccount, debtor: iban = '' } = instruction;
    const debtor = options.debtorOf(iban);
    if (debtor === undefined) {
      // An operator's mistake must not end a payout.
      options.logger.error('a payout waits: ISO20022_DEBTORS does not list the debtor of its account', {
        reference,
        merchantAccount,
      });
      return { kind: 'not-sent' };
    }
    const member: Member = {
      _id: reference,
      merchantAccount,
      state: 'waiting',
      since: options.now(),
      debtor,
      instant: instruction.instant,
      amountE4: checked.transfer.amountE4,
      transfer: checked.transfer,
    };
    if (await insert(member)) return { kind: 'submitted' };
    const known = await inquire(reference);
    if (known.kind === 'cancelled') return { kind: 'failed', code: RESPONSE_CODES.PAYOUT_ERROR };
    // No majority has it yet, so a failover may lose it.
    return known.kind === 'not-found' || known.kind === 'unknown' ? { kind: 'not-sent' } : known;
  }

  /** False if the reference is known. */
  async function insert(member: Member): Promise<boolean> {
    try {
      await members.insertOne(member);
      return true;
    } catch (error) {
      if (duplicateKeyIndex(error) === undefined) throw error;
      return false;
    }
  }

  async function inquire(reference: string): Promise<Inquiry> {
    const member = await members.findOne({ _id: reference });
    if (member === null) return { kind: 'not-found' };
    return member.state === 'cancelled' ? { kind: 'cancelled' } : outcomeOf(member);
  }

  async function cancel(reference: string): Promise<Cancellation> {
    await options.manifests.reconcile();
    try {
      await members.updateOne(
        { _id: reference, state: { $in: [...CANCELLABLE_STATES] } },
        {
          $set: { state: 'cancelled', endedAt: new Date(options.now()) },
          $setOnInsert: { since: options.now() },
          $unset: { transfer: '' },
        },
        { upsert: true },
      );
      return { kind: 'cancelled' };
    } catch (error) {
      // It exists in another state, that is, in a file.
      if (duplicateKeyIndex(error) === undefined) throw error;
    }
    const known = await inquire(reference);
    return known.kind === 'not-found' || known.kind === 'submitted' ? { kind: 'unknown' } : known;
  }

  async function batchOf(reference: string): Promise<string | undefined> {
    const member = await members.findOne({ _id: reference }, { projection: { batch: 1 } });
    return member?.batch;
  }

  async function waiting(scope: Scope, limit: number): Promise<string[]> {
    // MongoDB takes 0 for "no limit".
    if (limit < 1) throw new RangeError(`${limit} is no limit`);
    const found = members.find(waitingIn(scope), { projection: { _id: 1 } }).limit(limit);
    return (await found.toArray()).map(({ _id }) => _id);
  }

  async function withdraw(reference: string): Promise<boolean> {
    await options.manifests.reconcile();
    const withdrawn = await members.updateOne(
      { _id: reference, state: 'waiting' },
      { $set: { state: 'cancelled', endedAt: new Date(options.now()) }, $unset: { transfer: '' } },
    );
    return withdrawn.modifiedCount === 1;
  }

  async function countWaiting(scope: Scope): Promise<number> {
    const notBegun = { ...inScope(scope), batch: { $in: await batchesNotBegun(scope) } };
    // One read, so that a payout whose batch is opened again meanwhile is counted once.
    return members.countDocuments({ $or: [waitingIn(scope), notBegun] }, { maxTimeMS: HELD_COUNT_TIMEOUT_MS });
  }

  async function batchesNotBegun(scope: Scope): Promise<string[]> {
    const own = scope.kind === 'payout' ? { _id: (await batchOf(scope.reference)) ?? '' } : {};
    const options = { projection: { _id: 1 }, maxTimeMS: HELD_COUNT_TIMEOUT_MS };
    return (await batches.find({ ...own, ...isNotBegun }, options).toArray()).map(({ _id }) => _id);
  }

  return { add, inquire, cancel, batchOf, waiting, countWaiting, withdraw };
}

function waitingIn(scope: Scope): Filter<Member> {
  return { ...inScope(scope), state: 'waiting' };
}

function inScope(scope: Scope): Filter<Member> {
  switch (scope.kind) {
    case 'payout':
      return { _id: scope.reference };
    case 'account':
      return { merchantAccount: scope.merchantAccount };
    case 'all':
      return {};
  }
}

function outcomeOf({ fate = 'open', code, bank }: Member): BankOutcome {
  const facts = bank === undefined ? {} : { bank };
  switch (fate) {
    case 'open':
      return { kind: 'submitted', ...facts };
    case 'settled':
    // The return itself is reported as news; the transfer stays settled.
    case 'returned':
      return { kind: 'settled', ...facts };
    case 'declined':
      if (code === undefined) throw new Error('a declined transfer without a code');
      return { kind: 'declined', code, ...facts };
  }
}
