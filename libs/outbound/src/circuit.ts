export interface CircuitLimits {
  /** Calls of one party that were left unanswered, with no answer to that party meanwhile: then its circuit opens. */
  readonly unansweredPerParty: number;
  /** The same for all parties together. More than one party can contribute, so that none opens it for the others. */
  readonly unanswered: number;
  /** How often a party may try an open circuit. */
  readonly probeEveryMs: number;
  /** Parties that may try at once while the circuit of all is open. */
  readonly probesAtOnce: number;
  /** Parties that are remembered. */
  readonly parties: number;
}

export const CIRCUIT_LIMITS: CircuitLimits = {
  unansweredPerParty: 100,
  unanswered: 200,
  probeEveryMs: 1_000,
  probesAtOnce: 8,
  parties: 10_000,
};

/** A call that the circuit let through. */
export interface Admission {
  /** Any answer will do, whatever it says. */
  end(answered: boolean): void;
}

/** Keeps calls away from a counterpart that answers nobody, or that leaves one party without answers. */
export interface Circuit {
  /** Undefined when the circuit is open for this party now. Every admission has to end. */
  admit(party: string): Admission | undefined;
  /** True when `admit` would not let the party through now. */
  refuses(party: string): boolean;
  /** Open for everybody. */
  isOpen(): boolean;
  /** Parties whose own circuit is open. */
  openParties(): number;
}

interface Party {
  /** Since its last answer. */
  unanswered: number;
  answers: number;
  probing: boolean;
  mayProbeAt: number;
  /** Of its unanswered calls, those that count in the circuit of all since `epoch`. */
  counted: number;
  epoch: number;
}

/**
 * A call that finds no answer counts only if no other call was answered while it ran. So one silent kind of request
 * among others never opens a circuit, and a counterpart that is dead opens it as soon as enough calls have failed. Open,
 * it lets each party try once a second; the first answer closes it.
 */
export function createCircuit(limits: CircuitLimits = CIRCUIT_LIMITS, now: () => number = Date.now): Circuit {
  const parties = new Map<string, Party>();
  let unanswered = 0;
  /** Answers so far, to anybody. */
  let epoch = 0;
  let probes = 0;

  const newParty = (): Party => {
    return { unanswered: 0, answers: 0, probing: false, mayProbeAt: 0, counted: 0, epoch };
  };

  function partyOf(name: string): Party {
    const party = parties.get(name) ?? newParty();
    // What is forgotten first was not used for longest.
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

  /** Closed: yes. Open: as a probe, now and then. */
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
