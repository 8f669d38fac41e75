import type { Account } from '@gateway/accounts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { ReturningRequest } from '../domain/return-hosts';
import { isRegisteredReturn } from '../domain/return-hosts';
import type { Ports } from './ports';
import type { FieldProblem } from './responses';
import { problem } from './responses';

const HINT =
  'Send an address on a host that the operator has registered for the account, such as https://shop.example/done';

/** Step 5 for requests whose cardholders return: `redirect_url` is refused if it leads where the account has no host. */
export function unregisteredReturns({ sandboxReturns }: Pick<Ports, 'sandboxReturns'>) {
  return (request: ReturningRequest, account: Pick<Account, 'returnHosts'>): FieldProblem[] =>
    sandboxReturns === 'any' || isRegisteredReturn(request, account)
      ? []
      : [problem(RESPONSE_CODES.FIELD_INVALID, 'redirect_url', 'return-host', HINT)];
}
