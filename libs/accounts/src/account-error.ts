/** Why an account was not created or changed; `message` is a sentence for the operator. */
export class AccountError extends Error {
  constructor(
    readonly reason: 'unknown' | 'exists' | 'invalid' | 'refused' | 'conflict',
    message: string,
  ) {
    super(message);
  }
}
