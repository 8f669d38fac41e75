import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector got it. */
export interface ReceivedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Undefined for the first of its trace. */
  parentSpanId: string | undefined;
  attributes: Readonly<Record<string, unknown>>;
  failed: boolean;
  /** Ids of the traces of its links. */
  linkedTraces: string[];
  startNs: bigint;
  endNs: bigint;
}

/** A collector of traces: OTLP over HTTP, in JSON. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Everything that came, as it came. */
  readonly bodies: string[];
  /** Of each request. */
  readonly headers: IncomingHttpHeaders[];
  /** How requests are answered from now on; `hang`: not at all. Default: 200. */
  answer: { status: number; body?: object } | 'hang';
  /** All spans of a trace that came so far. */
  trace(traceId: string): ReceivedSpan[];
  /** Again does nothing. */
  close(): Promise<void>;
}

interface OtlpValue {
  stringValue?: string;
  intValue?: number | string;
}
type OtlpAttributes = { key: string; value: OtlpValue }[];
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: OtlpAttributes;
  links?: { traceId: string }[];
  status?: { code?: number };
}
interface OtlpRequest {
  resourceSpans: { resource: { attributes: OtlpAttributes }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

const FAILED = 2;

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => void take(request, response));

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { answer } = receiver;
    receiver.headers.push(request.headers);
    if (answer === 'hang') return;
    const body = Buffer.concat(chunks).toString();
    if (request.url !== '/v1/traces' || answer.status !== 200) {
      return void response.writeHead(request.url === '/v1/traces' ? answer.status : 404).end();
    }
    receiver.bodies.push(body);
    receiver.spans.push(...spansIn(JSON.parse(body) as OtlpRequest));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body ?? {}));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    headers: [],
    answer: { status: 200 },
    trace: (traceId) => receiver.spans.filter((span) => span.traceId === traceId),
    async close() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}

function spansIn({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => receivedSpan(service, span)));
  });
}

function receivedSpan(service: string, span: OtlpSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, attributes = [], links = [], status } = span;
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    attributes: attributesOf(attributes),
    failed: status?.code === FAILED,
    linkedTraces: links.map((link) => link.traceId),
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
  };
}

function attributesOf(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
