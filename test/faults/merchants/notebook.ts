import type { CallbackArrival, Denial, Observation, SentOperation } from '../model/evidence';

/** All requests and answers of all merchants. */
export interface Notebook {
  readonly operations: SentOperation[];
  readonly observations: Observation[];
  readonly denials: Denial[];
  readonly callbacks: CallbackArrival[];
  /** Epoch ms of each approved card operation, to measure recovery. */
  readonly approvals: number[];
  /** Number of aborted scenarios, by reason. */
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
