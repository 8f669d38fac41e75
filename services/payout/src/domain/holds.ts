/** What an operator holds: one payout, one account's payouts, or all. */
export type Scope =
  | { readonly kind: 'payout'; readonly reference: string }
  | { readonly kind: 'account'; readonly merchantAccount: string }
  | { readonly kind: 'all' };

/** More than one payout. */
export type WideScope = Exclude<Scope, { kind: 'payout' }>;

export const SCOPE_KINDS = ['payout', 'account', 'all'] as const satisfies readonly Scope['kind'][];

interface Subject {
  reference: string;
  merchantAccount: string;
}

/** `all`, `account shop_one`, `payout REFERENCE`: unique for each scope. */
export function nameOf(scope: Scope): string {
  switch (scope.kind) {
    case 'payout':
      return `payout ${scope.reference}`;
    case 'account':
      return `account ${scope.merchantAccount}`;
    case 'all':
      return 'all';
  }
}

export function covers(scope: Scope, { reference, merchantAccount }: Subject): boolean {
  switch (scope.kind) {
    case 'payout':
      return scope.reference === reference;
    case 'account':
      return scope.merchantAccount === merchantAccount;
    case 'all':
      return true;
  }
}

export function isHeld(held: readonly Scope[], subject: Subject): boolean {
  return held.some((scope) => covers(scope, subject));
}
