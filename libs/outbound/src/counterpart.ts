import type { AxiosInstance, AxiosResponse } from 'axios';
import type { OutboundProxy, Registry } from '@gateway/service-kit';
import { annotate, closeHttpClient, createHttpClient } from '@gateway/service-kit';
import type { BulkheadLimits, Place } from './bulkhead';
import type { CallPolicy, OutboundCall } from './call-policy';
import { createCallPolicy } from './call-policy';
import { createCircuit } from './circuit';

/** A third party's HTTP service. Its connector only builds requests and reads answers, which are text until `fieldsIn`. */
export interface Counterpart<Lane extends string> {
  call<Answer extends { kind: string }>(
    lane: Lane,
    call: Omit<OutboundCall<AxiosResponse<unknown>, Answer>, 'send'> & {
      send(http: AxiosInstance): Promise<AxiosResponse<unknown>>;
    },
  ): Promise<Answer>;
  tryEnter(lane: Lane, party: string): Place | undefined;
  room(lane: Lane, party: string): number;
  /** Longest time from asking for a place to the end of the call. A lease must cover it. */
  longestMs(lane: Lane): number;
  close(): void;
}

/** Opens a counterpart with one call policy per lane. */
export function openCounterpart<Lane extends string>(options: {
  name: string;
  baseUrl: string;
  /** For a whole call, up to the last byte of the response. */
  timeoutMs: number;
  /** Presented as bearer token. */
  identityToken?: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile?: string | undefined;
  /** The way out, if there is no other. */
  proxy?: OutboundProxy | undefined;
  lanes: Readonly<Record<Lane, BulkheadLimits>>;
  metrics: Registry;
}): Counterpart<Lane> {
  const { name, baseUrl, timeoutMs, identityToken, caFile, proxy, lanes, metrics } = options;
  const limits = Object.entries<BulkheadLimits>(lanes);
  const maxSockets = limits.reduce((sum, [, { atOnce }]) => sum + atOnce, 0);
  const http = createHttpClient({ baseUrl, timeoutMs, identityToken, caFile, proxy, maxSockets, isThirdParty: true });
  const host = URL.parse(baseUrl)?.hostname;
  const circuit = createCircuit();
  const policies = new Map(
    limits.map(([lane, bulkhead]) => [
      lane,
      createCallPolicy({ counterpart: name, host, lane, limits: bulkhead, circuit, metrics }),
    ]),
  );
  const policyOf = (lane: Lane): CallPolicy => {
    const policy = policies.get(lane);
    if (policy === undefined) throw new Error(`${name} has no lane ${lane}`);
    return policy;
  };
  return {
    call: (lane, call) =>
      policyOf(lane).call({
        ...call,
        async send() {
          const response = await call.send(http);
          annotate({ 'http.response.status_code': response.status });
          return response;
        },
      }),
    tryEnter: (lane, party) => policyOf(lane).tryEnter(party),
    room: (lane, party) => policyOf(lane).room(party),
    longestMs: (lane) => policyOf(lane).limits.waitMs + timeoutMs,
    close: () => closeHttpClient(http),
  };
}
