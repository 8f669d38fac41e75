import { checkAccountRules } from '../domain/account-rules';
import type { Incoming } from './admit';
import type { CheckPorts } from './check';
import { check } from './check';
import { cardEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import type { Answer } from './responses';
import { unregisteredReturns } from './returns';
import type { SubmitPorts } from './submit';
import { operationSubmission, submit } from './submit';

/** `POST /api/pf/host-to-host`. */
export function handleCardRequest(ports: SubmitPorts & CheckPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, cardEndpoint, {
    refusedFields: unregisteredReturns(ports),
    checkRules: checkAccountRules,
    carryOut: (session, account, request, idempotencies) =>
      request.transactionType === 'CHECK'
        ? check(ports, session, account.merchantAccount, request)
        : submit(ports, session, operationSubmission(ports, session, account, request, idempotencies)),
  });
}
