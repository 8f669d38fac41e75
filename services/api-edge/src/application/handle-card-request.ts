import type { TransactionType } from '@gateway/contracts';
import { TRANSACTION_TYPES } from '@gateway/contracts';
import { checkAccountRules } from '../domain/account-rules';
import type { CardRequest } from '../domain/card-request';
import { checkFields } from '../domain/fields';
import type { Incoming } from './admit';
import { CARD_ECHOES, transactionTypeOf } from './admit';
import { check } from './check';
import { handleRequest } from './handle-request';
import type { Answer } from './responses';
import type { SubmitPorts } from './submit';
import { operationSubmission, submit } from './submit';

/** `POST /api/pf/host-to-host`. */
export function handleCardRequest(ports: SubmitPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest<TransactionType, CardRequest>(ports, incoming, {
    echoed: CARD_ECHOES,
    readType: transactionTypeOf(TRANSACTION_TYPES),
    checkFields,
    checkRules: checkAccountRules,
    carryOut: (session, { merchantAccount }, request, idempotency) =>
      request.transactionType === 'CHECK'
        ? check(ports, session, merchantAccount, request)
        : submit(ports, session, operationSubmission(ports, session, merchantAccount, request, idempotency)),
  });
}
