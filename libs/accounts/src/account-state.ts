/** decisions.md, section 8. `test` accepts the test currency only; `suspended` and `closed` are refused with 2003. */
export const ACCOUNT_STATES = ['test', 'active', 'suspended', 'closed'] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** A suspended account remembers the state that it returns to. */
export type SuspendedFrom = 'test' | 'active';

export const STATE_ACTIONS = ['activate', 'suspend', 'reopen', 'close'] as const;
export type StateAction = (typeof STATE_ACTIONS)[number];

export interface Standing {
  readonly state: AccountState;
  readonly suspendedFrom?: SuspendedFrom;
}

/** The state after the action; undefined if the action is not possible. No action leaves `closed`. */
export function nextStanding(standing: Standing, action: StateAction): Standing | undefined {
  const { state } = standing;
  switch (action) {
    case 'activate':
      return state === 'test' || state === 'suspended' ? { state: 'active' } : undefined;
    case 'suspend':
      return state === 'test' || state === 'active' ? { state: 'suspended', suspendedFrom: state } : undefined;
    case 'reopen':
      return state === 'suspended' ? { state: standing.suspendedFrom ?? 'test' } : undefined;
    case 'close':
      return state === 'closed' ? undefined : { state: 'closed' };
  }
}
