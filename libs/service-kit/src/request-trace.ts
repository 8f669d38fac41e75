import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span, Tracer } from './span';
import { runWithTrace, traceOf } from './trace';

const SERVER_FAULT = 500;

/**
 * Handles a request from outside within a trace that begins here. What a client says about its own trace is not taken: it
 * could mix its requests with those of others, or have all of them exported (ADR 0055).
 *
 * @param request.route as declared; undefined for addresses that do not exist
 * @param request.onEnd called when the answer is sent or the client is gone, just before the span ends
 */
export function traceRequest(
  tracer: Tracer,
  request: {
    request: IncomingMessage;
    response: ServerResponse;
    route: string | undefined;
    correlationId: string;
    onEnd?: (span: Span) => void;
  },
  next: () => void,
): void {
  const { response, route, correlationId, onEnd } = request;
  const { method = '' } = request.request;
  const span = tracer.start({
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    attributes: { 'http.request.method': method, ...(route === undefined ? {} : { 'http.route': route }) },
  });
  response.once('close', () => {
    const { statusCode } = response;
    span.set({ 'http.response.status_code': statusCode });
    if (statusCode >= SERVER_FAULT) span.fail(String(statusCode));
    onEnd?.(span);
    span.end();
  });
  runWithTrace(traceOf(tracer, span, correlationId), next);
}
