import type { TransactionType } from '@gateway/contracts';
import { TRANSACTION_TYPES } from '@gateway/contracts';
import type { CardRequest } from '../domain/card-request';
import { checkFields } from '../domain/fields';
import type { Incoming } from './admit';
import { check } from './check';
import { handleRequest } from './handle-request';
import type { Answer } from './responses';
import type { SubmitPorts } from './submit';
import { operationSubmission, submit } from './submit';

/** `POST /api/pf/host-to-host`. */
export function handleCardRequest(ports: SubmitPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest<TransactionType, CardRequest>(ports, incoming, {
    types: TRANSACTION_TYPES,
    checkFields,
    carryOut: (session, { merchantAccount }, request, idempotency) =>
      request.transactionType === 'CHECK'
        ? check(ports, session, merchantAccount, request)
        : submit(ports, session, operationSubmission(ports, session, merchantAccount, request, idempotency)),
  });
}
