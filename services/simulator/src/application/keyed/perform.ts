import type { Decision, Reaction } from '../../domain/keyed/behave';
import { decideRepetition } from '../../domain/keyed/behave';
import type { KeyedRequest } from '../../domain/keyed/record';
import { untilSettled } from '../until-settled';
import type { KeyedPorts } from './ports';

/**
 * Performs a request once per idempotency key. The ordinary one costs one insert, whose unique indexes decide all
 * races. `decide` is told how many rounds were lost to others, `same` whether a repetition is the first request again.
 */
export function perform<R extends KeyedRequest, A>(
  { records }: KeyedPorts<R, A>,
  request: R,
  decide: (lost: number) => Promise<Decision<R, A>> | Decision<R, A>,
  same: (a: R, b: R) => boolean,
): Promise<Reaction<R, A>> {
  return untilSettled(async (lost) => {
    const { record, reaction } = await decide(lost);
    if (record !== undefined && (await records.insert(record))) return reaction;
    const known = await records.findLatest(request.idempotencyKey);
    if (known !== undefined) return decideRepetition(known.record, request, same);
    // Nothing to store, or another key changed the books: then decide again, on what is there now.
    return record === undefined ? reaction : undefined;
  });
}
