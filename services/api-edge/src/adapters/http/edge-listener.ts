import type { RequestListener } from 'node:http';
import type { TransactionType } from '@gateway/contracts';
import { TRANSACTION_TYPES } from '@gateway/contracts';
import type { Registry, Tracer } from '@gateway/service-kit';
import { connectionLimitsOf, createBodyReader, DEFAULT_BODY_LIMITS } from '@gateway/service-kit';
import { handleCallbackEvents } from '../../application/handle-callback-events';
import { handleCallbackList } from '../../application/handle-callback-list';
import { handleCallbackResend } from '../../application/handle-callback-resend';
import { showCheckout, submitCard } from '../../application/checkout-page';
import type { CheckoutPorts } from '../../application/checkout-ports';
import { handleCardRequest } from '../../application/handle-card-request';
import { handleCheckoutRequest } from '../../application/handle-checkout-request';
import type { ClockPorts } from '../../application/handle-clock-request';
import { handleClockRequest } from '../../application/handle-clock-request';
import { handlePayoutCheck } from '../../application/handle-payout-check';
import { handlePayoutQuery } from '../../application/handle-payout-query';
import type { InitiatePorts } from '../../application/handle-payout-request';
import { createPayoutRequestHandler } from '../../application/handle-payout-request';
import type { AnnouncingBus, CallbackPorts } from '../../application/ports';
import type { Config } from '../../config';
import type { RawFields } from '../../domain/body';
import { readText } from '../../domain/envelope-fields';
import { createCheckoutPages, isForPages } from './checkout-pages';
import type { MerchantEndpoint } from './merchant-api';
import { CARD_CONTENT_TYPES, createMerchantApi, PAYOUT_CONTENT_TYPES } from './merchant-api';

export type EdgePorts = CheckoutPorts &
  InitiatePorts &
  CallbackPorts &
  ClockPorts & { bus: AnnouncingBus; tracer: Tracer };

/** Merchants and browsers share a port. Each has its own limit, so that neither can lock the other out. */
export function createEdgeListener(config: Config, ports: EdgePorts, metrics: Registry): RequestListener {
  const shared = {
    trustedProxies: connectionLimitsOf(config).trustedProxies,
    bodies: createBodyReader({
      ...DEFAULT_BODY_LIMITS,
      max: config.MAX_CONNECTIONS,
      maxPerSource: config.MAX_CONNECTIONS_PER_SOURCE,
    }),
    bodyTimeoutMs: config.REQUEST_TIMEOUT_MS,
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
    metrics,
  };
  const merchants = createMerchantApi({
    ...shared,
    endpoints: [
      {
        path: '/api/pf/host-to-host',
        contentTypes: CARD_CONTENT_TYPES,
        operationOf: transactionTypeIn,
        handle: (incoming) => handleCardRequest(ports, incoming),
      },
      {
        path: '/api/pf/checkout',
        contentTypes: CARD_CONTENT_TYPES,
        operationOf: () => 'CHECKOUT',
        handle: (incoming) => handleCheckoutRequest(ports, incoming),
      },
      ...callbackEndpoints(ports),
      {
        path: '/api/sandbox/clock',
        contentTypes: CARD_CONTENT_TYPES,
        operationOf: () => 'CLOCK',
        waits: true,
        handle: (incoming) => handleClockRequest(ports, incoming),
      },
      ...payoutEndpoints(ports),
    ],
  });
  const pages = createCheckoutPages({
    ...shared,
    maxConcurrent: config.MAX_CONCURRENT_REQUESTS,
    show: (id, returnedReference) => showCheckout(ports, id, returnedReference),
    submit: (id, submitted) => submitCard(ports, id, submitted),
    merchantName: (merchantAccount) => ports.merchantName(merchantAccount),
    publicBaseUrl: config.PUBLIC_BASE_URL,
    threedsUrl: config.THREEDS_PUBLIC_URL,
  });
  return (request, response) => (isForPages(request.url) ? pages : merchants)(request, response);
}

function callbackEndpoints(ports: EdgePorts): MerchantEndpoint[] {
  const endpoint = (path: string, operation: string, handle: MerchantEndpoint['handle']): MerchantEndpoint => ({
    path: `/api/pf/${path}`,
    contentTypes: CARD_CONTENT_TYPES,
    operationOf: () => operation,
    handle,
  });
  return [
    endpoint('callbacks', 'CALLBACKS', (incoming) => handleCallbackList(ports, incoming)),
    endpoint('callbacks/resend', 'CALLBACK_RESEND', (incoming) => handleCallbackResend(ports, incoming)),
    {
      ...endpoint('callbacks/events', 'CALLBACK_EVENTS', (incoming) => handleCallbackEvents(ports, incoming)),
      waits: true,
    },
  ];
}

function payoutEndpoints(ports: EdgePorts): MerchantEndpoint[] {
  const endpoint = (path: string, operation: string, handle: MerchantEndpoint['handle']): MerchantEndpoint => ({
    path: `/api/mp/${path}`,
    contentTypes: PAYOUT_CONTENT_TYPES,
    operationOf: () => operation,
    handle,
  });
  return [
    endpoint('payout', 'PAYOUT', createPayoutRequestHandler(ports)),
    endpoint('transaction', 'PAYOUT_CHECK', (incoming) => handlePayoutCheck(ports, incoming)),
    endpoint('transactions', 'PAYOUT_QUERY', (incoming) => handlePayoutQuery(ports, incoming, 'with-fee')),
    endpoint('transactions/ra', 'PAYOUT_QUERY', (incoming) => handlePayoutQuery(ports, incoming, 'without-fee')),
  ];
}

/** Also of a request that is refused. A type that does not exist is none. */
export function transactionTypeIn(fields: RawFields): TransactionType | undefined {
  const given = readText(fields, 'transaction_type');
  return TRANSACTION_TYPES.find((type) => type === given);
}
