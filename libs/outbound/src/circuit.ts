export interface CircuitLimits {
  /** A party's circuit opens after this many unanswered calls without an answer to the party in between. */
  readonly unansweredPerParty: number;
  /** The same for all parties. Larger than one party's contribution, so that no party opens it for the others. */
  readonly unanswered: number;
  /** How often a party may probe an open circuit. */
  readonly probeEveryMs: number;
  /** Concurrent probes while the circuit for all is open. */
  readonly probesAtOnce: number;
  /** Parties kept in memory. */
  readonly parties: number;
}

export const CIRCUIT_LIMITS: CircuitLimits = {
  unansweredPerParty: 100,
  unanswered: 200,
  probeEveryMs: 1_000,
  probesAtOnce: 8,
  parties: 10_000,
};

/** A call that the circuit admitted. */
export interface Admission {
  /** Any response counts as an answer. */
  end(answered: boolean): void;
}

/** Stops calls to a counterpart that does not answer, for all parties or for one. */
export interface Circuit {
  /** Undefined while the circuit is open for this party. The caller must end every admission. */
  admit(party: string): Admission | undefined;
  /** True if `admit` would return undefined now. */
  refuses(party: string): boolean;
  /** Open for all parties. */
  isOpen(): boolean;
  /** Parties whose own circuit is open. */
  openParties(): number;
}

interface Party {
  /** Unanswered calls since the last answer. */
  unanswered: number;
  answers: number;
  probing: boolean;
  mayProbeAt: number;
  /** Its unanswered calls that count in the circuit for all since `epoch`. */
  counted: number;
  epoch: number;
}

/**
 * An unanswered call counts only if no other call was answered while it ran. So a kind of request that never gets an
 * answer does not open the circuit while others do, but a dead counterpart opens it after enough failed calls. An open
 * circuit lets each party probe once a second; the first answer closes it.
 */
export function createCircuit(limits: CircuitLimits = CIRCUIT_LIMITS, now: () => number = Date.now): Circuit {
  const parties = new Map<string, Party>();
  let unanswered = 0;
  /** Number of answers so far, to any party. */
  let epoch = 0;
  let probes = 0;

  const newParty = (): Party => {
    return { unanswered: 0, answers: 0, probing: false, mayProbeAt: 0, counted: 0, epoch };
  };

  function partyOf(name: string): Party {
    const party = parties.get(name) ?? newParty();
    // Keeps the map in order of use; the least recently used party is evicted.
    parties.delete(name);
    parties.set(name, party);
    const [oldest] = parties.size > limits.parties ? parties.keys() : [];
    if (oldest !== undefined) parties.delete(oldest);
    return party;
  }

  const isOpen = (): boolean => unanswered >= limits.unanswered;
  const isOpenFor = (party: Party): boolean => party.unanswered >= limits.unansweredPerParty;

  function answered(party: Party): void {
    epoch += 1;
    unanswered = 0;
    party.answers += 1;
    party.unanswered = 0;
  }

  function leftUnanswered(party: Party, begun: { epoch: number; answers: number }): void {
    if (party.answers === begun.answers) party.unanswered += 1;
    if (epoch !== begun.epoch) return;
    if (party.epoch !== epoch) Object.assign(party, { counted: 0, epoch });
    if (party.counted >= limits.unansweredPerParty) return;
    party.counted += 1;
    unanswered += 1;
  }

  /** True if the circuit is closed, or the party may probe it. */
  function mayPass(party: Party): boolean {
    if (!isOpen() && !isOpenFor(party)) return true;
    if (party.probing || now() < party.mayProbeAt) return false;
    return !isOpen() || probes < limits.probesAtOnce;
  }

  return {
    refuses: (name) => !mayPass(parties.get(name) ?? newParty()),
    admit(name) {
      const party = partyOf(name);
      if (!mayPass(party)) return undefined;
      const isProbe = isOpen() || isOpenFor(party);
      if (isProbe) {
        party.probing = true;
        party.mayProbeAt = now() + limits.probeEveryMs;
        probes += 1;
      }
      const begun = { epoch, answers: party.answers };
      return {
        end(wasAnswered) {
          if (isProbe) {
            party.probing = false;
            probes -= 1;
          }
          if (wasAnswered) answered(party);
          else leftUnanswered(party, begun);
        },
      };
    },
    isOpen,
    openParties() {
      let open = 0;
      for (const party of parties.values()) if (isOpenFor(party)) open += 1;
      return open;
    },
  };
}
