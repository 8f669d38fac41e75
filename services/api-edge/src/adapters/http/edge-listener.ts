import type { RequestListener } from 'node:http';
import type { Registry, SourcePace, Tracer } from '@gateway/service-kit';
import { connectionLimitsOf, createBodyReader, DEFAULT_BODY_LIMITS } from '@gateway/service-kit';
import { handleCallbackEvents } from '../../application/handle-callback-events';
import { handleCallbackList } from '../../application/handle-callback-list';
import { handleCallbackResend } from '../../application/handle-callback-resend';
import { showCheckout, submitCard } from '../../application/checkout-page';
import type { CheckoutPorts } from '../../application/checkout-ports';
import type { MerchantEndpoints } from '../../application/endpoints';
import { merchantEndpoints } from '../../application/endpoints';
import { handleCardRequest } from '../../application/handle-card-request';
import { handleCheckoutExpiry } from '../../application/handle-checkout-expiry';
import { handleCheckoutRequest } from '../../application/handle-checkout-request';
import type { ClockPorts } from '../../application/handle-clock-request';
import { handleClockRequest } from '../../application/handle-clock-request';
import type { LedgerPorts } from '../../application/handle-ledger-request';
import { handleLedgerRequest } from '../../application/handle-ledger-request';
import { handlePayoutCheck } from '../../application/handle-payout-check';
import type { PayoutQueryPorts } from '../../application/handle-payout-query';
import { handlePayoutQuery } from '../../application/handle-payout-query';
import type { InitiatePorts } from '../../application/handle-payout-request';
import { handlePayoutRequest } from '../../application/handle-payout-request';
import type { AnnouncingBus, CallbackPorts } from '../../application/ports';
import type { Config } from '../../config';
import { createCheckoutPages, isForPages } from './checkout-pages';
import type { MerchantEndpoint } from './merchant-api';
import { createMerchantApi } from './merchant-api';

export type EdgePorts = CheckoutPorts &
  InitiatePorts &
  PayoutQueryPorts &
  CallbackPorts &
  ClockPorts &
  LedgerPorts & { bus: AnnouncingBus; tracer: Tracer };

/** Merchants and browsers share a port. Each has its own limit, so that neither can lock the other out. */
export function createEdgeListener(
  config: Config,
  ports: EdgePorts,
  { pace, metrics }: { pace: SourcePace; metrics: Registry },
): RequestListener {
  const shared = {
    trustedProxies: connectionLimitsOf(config).trustedProxies,
    bodies: createBodyReader({
      ...DEFAULT_BODY_LIMITS,
      max: config.MAX_CONNECTIONS,
      maxPerSource: config.MAX_CONNECTIONS_PER_SOURCE,
    }),
    bodyTimeoutMs: config.REQUEST_TIMEOUT_MS,
    pace,
    now: ports.now,
    tracer: ports.tracer,
    logger: ports.logger,
    metrics,
  };
  const merchants = createMerchantApi({
    ...shared,
    endpoints: handledEndpoints(ports),
    publicBaseUrl: config.PUBLIC_BASE_URL,
  });
  const pages = createCheckoutPages({
    ...shared,
    maxConcurrent: config.MAX_CONCURRENT_REQUESTS,
    show: (id, returnedReference) => showCheckout(ports, id, returnedReference),
    submit: (id, submitted) => submitCard(ports, id, submitted),
    merchant: (merchantAccount) => ports.merchant(merchantAccount),
    publicBaseUrl: config.PUBLIC_BASE_URL,
    threedsUrl: config.THREEDS_PUBLIC_URL,
  });
  return (request, response) => (isForPages(request.url) ? pages : merchants)(request, response);
}

/** Every declared endpoint with its handler. */
function handledEndpoints(ports: EdgePorts): MerchantEndpoint[] {
  const endpoints = merchantEndpoints(ports.bankAddresses);
  const handlers: { readonly [Name in keyof MerchantEndpoints]: MerchantEndpoint['handle'] } = {
    cards: (incoming) => handleCardRequest(ports, incoming),
    checkout: (incoming) => handleCheckoutRequest(ports, incoming),
    checkoutExpiry: (incoming) => handleCheckoutExpiry(ports, incoming),
    callbacks: (incoming) => handleCallbackList(ports, incoming),
    callbackEvents: (incoming) => handleCallbackEvents(ports, incoming),
    callbackResend: (incoming) => handleCallbackResend(ports, incoming),
    clock: (incoming) => handleClockRequest(ports, incoming),
    ledger: (incoming) => handleLedgerRequest(ports, incoming),
    payout: (incoming) => handlePayoutRequest(ports, incoming, endpoints.payout),
    payoutCheck: (incoming) => handlePayoutCheck(ports, incoming),
    payoutQuery: (incoming) => handlePayoutQuery(ports, incoming, endpoints.payoutQuery, 'with-fee'),
    payoutQueryWithoutFees: (incoming) =>
      handlePayoutQuery(ports, incoming, endpoints.payoutQueryWithoutFees, 'without-fee'),
  };
  return (Object.keys(handlers) as (keyof MerchantEndpoints)[]).map((name) => ({
    ...endpoints[name],
    handle: handlers[name],
  }));
}
