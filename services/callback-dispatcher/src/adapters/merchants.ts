import type { Account, OpenSigning, SigningSecrets } from '@gateway/accounts';
import { isSandbox, shownParameters } from '@gateway/accounts';
import type { Merchants } from '../application/ports';

/** decisions.md, section 6: card callbacks are signed with the API password, payouts with the payout secret. */
export function createMerchants(
  accounts: Pick<OpenSigning, 'directory' | 'signingSecrets' | 'webhookSecrets' | 'clocks'>,
): Merchants {
  // Opened once for as long as the directory caches the account.
  const opened = new WeakMap<Account, Promise<SigningSecrets>>();

  function secretsOf(account: Account): Promise<SigningSecrets> {
    const secrets = opened.get(account) ?? accounts.signingSecrets(account);
    opened.set(account, secrets);
    return secrets;
  }

  return {
    async find(merchantAccount) {
      const account = await accounts.directory.find(merchantAccount);
      if (account === undefined) return undefined;
      return {
        isSandbox: isSandbox(account),
        customParameters: shownParameters(account),
        async secret(kind) {
          const { cardSecret, payoutSecret } = await secretsOf(account);
          return kind === 'card' ? cardSecret : payoutSecret;
        },
        webhookSecrets: () => accounts.webhookSecrets(merchantAccount),
      };
    },
    async clockAheadMs(merchantAccount) {
      return (await accounts.clocks.find(merchantAccount))?.aheadMs ?? 0;
    },
  };
}
