import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { AnswerFields, closeHttpClient, createHttpClient, readJson, RetryableError } from '@gateway/service-kit';

/** For a whole export, up to the end of the collector's answer. */
const TIMEOUT_MS = 5_000;
/** OTLP/HTTP 1.7: these may succeed later; others never will. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** Takes spans by OTLP over HTTP, in JSON. */
export interface Collector {
  /**
   * Resolves with the number of spans that the collector rejected.
   *
   * @throws RetryableError if it is away or busy; Error if it refuses all of them
   */
  take(spans: ReadableSpan[]): Promise<number>;
  close(): void;
}

export interface CollectorOptions {
  /** Of the collector, without `/v1/traces`. */
  url: string;
  /** `name=value`, comma-separated. */
  headers?: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile?: string | undefined;
}

export function openCollector({ url, headers = '', caFile }: CollectorOptions): Collector {
  const http = createHttpClient({ baseUrl: url, timeoutMs: TIMEOUT_MS, maxSockets: 1, caFile, isThirdParty: true });
  const sent = { ...headersFrom(headers), 'content-type': 'application/json' };
  return {
    async take(spans) {
      const body = Buffer.from(JsonTraceSerializer.serializeRequest(spans) ?? []);
      const { status, data } = await http
        .post<unknown>('/v1/traces', body, { headers: sent })
        .catch((error: unknown) => {
          throw new RetryableError('the collector does not answer', { cause: error });
        });
      if (RETRYABLE.has(status)) throw new RetryableError(`the collector answers ${status}`);
      if (status < 200 || status > 299) throw new Error(`the collector answers ${status}`);
      return Math.min(rejectedIn(data), spans.length);
    },
    close: () => closeHttpClient(http),
  };
}

function headersFrom(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const separator = pair.indexOf('=');
      return [pair.slice(0, separator).trim(), pair.slice(separator + 1).trim()];
    }),
  );
}

/** Of an answer that takes only a part. Numbers of 64 bits are text in OTLP's JSON. */
function rejectedIn(answer: unknown): number {
  const rejected = Number(new AnswerFields(readJson(answer)).object('partialSuccess').text('rejectedSpans'));
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
}
