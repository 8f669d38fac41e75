import type { CredentialCheck } from '@gateway/accounts';
import type { Registry } from '@gateway/service-kit';
import { Gauge } from '@gateway/service-kit';

/** Shows when many merchants arrive from one address, so that one's wrong passwords could lock others out (ADR 0008). */
export function measureSources(metrics: Registry, credentials: Pick<CredentialCheck, 'mostAccountsOfASource'>): void {
  new Gauge({
    name: 'gateway_source_accounts_max',
    help: 'Accounts whose right password came from the address that most of them share',
    registers: [metrics],
    collect() {
      this.set(credentials.mostAccountsOfASource());
    },
  });
}
