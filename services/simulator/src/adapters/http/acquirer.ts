import { performOperation } from '../../application/acquirer/perform-operation';
import type { AcquirerPorts } from '../../application/acquirer/ports';
import { cancellationAnswer, inquiryAnswer, resultOf } from '../../domain/acquirer/results';
import { readOperation } from './acquirer-request';
import type { OnAnswer } from './keyed-routes';
import { keyedRoutes } from './keyed-routes';
import type { Route } from './listener';

/** The acquirer's API: operations, inquiry and cancellation by idempotency key. */
export function acquirerRoutes(ports: AcquirerPorts, onAnswer: OnAnswer): Route[] {
  return keyedRoutes({
    path: '/acquirer/v1/operations',
    ports,
    onAnswer,
    read: readOperation,
    operationOf: ({ operation }) => operation,
    perform: (request) => performOperation(ports, request),
    resultOf,
    inquiryAnswer,
    cancellationAnswer,
  });
}
