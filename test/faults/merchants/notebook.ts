import type { CallbackArrival, Denial, Observation, SentOperation } from '../model/evidence';

/** What all merchants together have sent and were told. */
export interface Notebook {
  readonly operations: SentOperation[];
  readonly observations: Observation[];
  readonly denials: Denial[];
  readonly callbacks: CallbackArrival[];
  /** Epoch ms of each approved card operation: how recovery is measured. */
  readonly approvals: number[];
  /** Where a merchant could not go on, by kind and number. */
  readonly troubles: Map<string, number>;
  trouble(what: string): void;
}

export function openNotebook(): Notebook {
  const troubles = new Map<string, number>();
  return {
    operations: [],
    observations: [],
    denials: [],
    callbacks: [],
    approvals: [],
    troubles,
    trouble: (what) => void troubles.set(what, (troubles.get(what) ?? 0) + 1),
  };
}
