/** Why a command is against the rules of its payment. */
export type Rejection =
  | 'deadline-passed'
  | 'token-not-found'
  | 'reference-not-found'
  | 'no-terminal-for-currency'
  | 'terminal-not-active'
  | 'not-voidable'
  | 'not-refundable'
  | 'hold-ended'
  | 'already-voided'
  | 'already-refunded'
  | 'already-settled'
  | 'settle-amount-too-high'
  | 'amount-or-currency-differs'
  | 'too-many-operations'
  | 'not-authenticated'
  | 'cancelled'
  | 'completed'
  | 'checkout-ended'
  | 'never-processable';

/** decisions.md, section 4, in the registry's codes. */
export function codeOfRejection(rejection: Rejection): number {
  switch (rejection) {
    case 'deadline-passed':
      return 11;
    case 'terminal-not-active':
      return 2005;
    case 'no-terminal-for-currency':
      return 2006;
    case 'never-processable':
    case 'too-many-operations':
      return 3000;
    case 'token-not-found':
      return 3002;
    case 'reference-not-found':
      return 3003;
    case 'not-voidable':
      return 3004;
    case 'not-refundable':
      return 3005;
    case 'hold-ended':
      return 3007;
    case 'already-voided':
      return 3008;
    case 'already-refunded':
      return 3009;
    case 'already-settled':
      return 3010;
    case 'settle-amount-too-high':
      return 3016;
    case 'amount-or-currency-differs':
      return 3022;
    case 'cancelled':
      return 3023;
    case 'checkout-ended':
      return 3024;
    case 'completed':
      return 3025;
    case 'not-authenticated':
      return 3103;
  }
}
