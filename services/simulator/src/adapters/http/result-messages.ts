import { createHmac } from 'node:crypto';
import type { Logger, Secret } from '@gateway/service-kit';
import { createHttpClient, messageOf } from '@gateway/service-kit';
import type { DirectoryPorts } from '../../application/directory/ports';
import type { AttemptEnd } from '../../domain/directory/delivery';
import { RESULT_TIMEOUT_MS } from '../../domain/directory/delivery';
import type { ResultRequest } from '../../domain/directory/messages';

/** Told about every attempt, for the figures. */
export type OnResult = (labels: { end: AttemptEnd }) => void;

/**
 * The directory server's way to 3DS servers. Each message is signed over its bytes: that stands for the mutual TLS
 * between the two.
 */
export function createResultMessages(options: {
  key: Secret<Buffer>;
  logger: Logger;
  onResult: OnResult;
}): DirectoryPorts['sendResult'] {
  const http = createHttpClient({ baseUrl: '', timeoutMs: RESULT_TIMEOUT_MS });

  async function send(url: string, message: ResultRequest): Promise<{ end: AttemptEnd; reason: string }> {
    const body = Buffer.from(JSON.stringify(message));
    const signature = createHmac('sha256', options.key.expose()).update(body).digest('hex');
    try {
      const { status, data } = await http.post<unknown>(url, body, {
        headers: { 'content-type': 'application/json', 'x-ds-signature': `sha256=${signature}` },
      });
      return { end: endOf(message, status, data), reason: `HTTP ${status}` };
    } catch (error) {
      return { end: 'not-taken', reason: messageOf(error) };
    }
  }

  return async (url, message) => {
    const { end, reason } = await send(url, message);
    options.onResult({ end });
    if (end !== 'taken') {
      options.logger.warn('result message was not taken', { acsTransID: message.acsTransID, end, reason });
    }
    return end;
  };
}

function endOf(message: ResultRequest, status: number, answer: unknown): AttemptEnd {
  if (status >= 400 && status < 500) return 'refused';
  return status === 200 && isResultResponse(message, answer) ? 'taken' : 'not-taken';
}

function isResultResponse(message: ResultRequest, answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { threeDSServerTransID, dsTransID, acsTransID } = message;
  const expected = { messageType: 'RRes', threeDSServerTransID, dsTransID, acsTransID, resultsStatus: '01' };
  const given = answer as Record<string, unknown>;
  return Object.entries(expected).every(([name, value]) => given[name] === value);
}
