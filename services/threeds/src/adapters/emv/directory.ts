import { BrokenCircuitError, circuitBreaker, handleAll, SamplingBreaker } from 'cockatiel';
import type { Logger, Registry } from '@gateway/service-kit';
import { closeHttpClient, createHttpClient, Histogram, messageOf } from '@gateway/service-kit';
import type { Directory } from '../../application/ports';
import type { DirectoryAnswer } from '../../domain/decide';
import { webAddress } from '../../domain/web-address';
import type { OwnAddresses } from './authentication-request';
import { authenticationRequest } from './authentication-request';
import { authenticationValue, messageFields, oneOf, transactionId, twoDigits } from './fields';

/** Opens when most calls of the last ten seconds found no answer at all, and lets one through again after five. */
const REOPEN_AFTER_MS = 5_000;
const SAMPLING = { threshold: 0.8, duration: 10_000, minimumRps: 10 };

const TRANS_STATUSES = ['Y', 'N', 'U', 'A', 'C', 'R'] as const;
const UNAVAILABLE: DirectoryAnswer = { kind: 'unavailable' };

export interface DirectoryOptions {
  url: string;
  /** For the whole call, to the last byte of the answer. There is no second attempt: someone waits. */
  timeoutMs: number;
  own: OwnAddresses;
  metrics: Registry;
  logger: Logger;
}

export interface DirectoryClient extends Directory {
  close(): void;
}

/** Speaks EMV 3-D Secure with the directory server: AReq and ARes, JSON over kept-alive HTTP. */
export function createDirectory({ url, timeoutMs, own, metrics, logger }: DirectoryOptions): DirectoryClient {
  const http = createHttpClient({ baseUrl: url, timeoutMs });
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: REOPEN_AFTER_MS,
    breaker: new SamplingBreaker(SAMPLING),
  });
  const duration = new Histogram({
    name: 'gateway_directory_call_seconds',
    help: 'Calls to the directory server, by transStatus of the answer',
    labelNames: ['answer'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [metrics],
  });

  const post = (body: object) => policy.execute(() => http.post<unknown>('/ds/v2/authenticate', body));

  async function answerTo(body: object, threeDSServerTransId: string): Promise<DirectoryAnswer> {
    try {
      const { status, data } = await post(body);
      const answer = status === 200 ? answerInBody(data, threeDSServerTransId) : UNAVAILABLE;
      if (answer.kind === 'unavailable') {
        const kind = messageFields(data, 'Erro') === undefined ? 'nothing understandable' : 'an error message';
        logger.warn(`the directory server answers ${kind}`, { status });
      }
      return answer;
    } catch (error) {
      const reason = error instanceof BrokenCircuitError ? 'too many calls in vain' : messageOf(error);
      logger.warn('the directory server does not answer', { reason });
      return UNAVAILABLE;
    }
  }

  return {
    async authenticate(request) {
      const body = authenticationRequest(request, own);
      const observe = duration.startTimer();
      const answer = await answerTo(body, request.threeDSServerTransId);
      observe({ answer: answer.kind === 'answered' ? answer.transStatus : answer.kind });
      return answer;
    },
    close: () => closeHttpClient(http),
  };
}

/** The ARes. One that is about another transaction, or says nothing known, is no answer. */
function answerInBody(data: unknown, threeDSServerTransId: string): DirectoryAnswer {
  const fields = messageFields(data, 'ARes');
  const transStatus = oneOf(TRANS_STATUSES, fields?.['transStatus']);
  const dsTransId = transactionId(fields?.['dsTransID']);
  const acsTransId = transactionId(fields?.['acsTransID']);
  const isEcho = transactionId(fields?.['threeDSServerTransID']) === threeDSServerTransId;
  if (fields === undefined || transStatus === undefined || !isEcho) return UNAVAILABLE;
  if (dsTransId === undefined || acsTransId === undefined) return UNAVAILABLE;
  const reason = twoDigits(fields['transStatusReason']);
  const value = authenticationValue(fields['authenticationValue']);
  const acsUrl = webAddress(String(fields['acsURL']), ['https:', 'http:'])?.href;
  return {
    kind: 'answered',
    transStatus,
    dsTransId,
    acsTransId,
    ...(reason === undefined ? {} : { transStatusReason: reason }),
    ...(value === undefined ? {} : { authenticationValue: value }),
    ...(acsUrl === undefined ? {} : { acsUrl }),
  };
}
