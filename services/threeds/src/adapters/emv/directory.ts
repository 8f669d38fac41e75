import type { AxiosResponse } from 'axios';
import { lane, openCounterpart } from '@gateway/outbound';
import type { Logger, OutboundProxy, Registry } from '@gateway/service-kit';
import { readJson } from '@gateway/service-kit';
import type { Directory } from '../../application/ports';
import type { DirectoryAnswer } from '../../domain/decide';
import { webAddress } from '../../domain/web-address';
import type { OwnAddresses } from './authentication-request';
import { AREQ_ELEMENTS, authenticationRequest } from './authentication-request';
import { addressText, authenticationValue, messageFields, oneOf, refusalIn, transactionId, twoDigits } from './fields';

/** How long a request may wait for a place. */
const WAIT_MS = 2_000;

const TRANS_STATUSES = ['Y', 'N', 'U', 'A', 'C', 'R'] as const;
const UNAVAILABLE: DirectoryAnswer = { kind: 'unavailable' };
const TOO_LATE: DirectoryAnswer = { kind: 'too-late' };

export interface DirectoryOptions {
  url: string;
  /** For the whole call, to the last byte of the answer. There is no second attempt, because the cardholder waits. */
  timeoutMs: number;
  /** Presented as bearer token. */
  identityToken?: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile?: string | undefined;
  proxy?: OutboundProxy | undefined;
  /** Concurrent calls; one account gets half of them at most. */
  callsAtOnce: number;
  own: OwnAddresses;
  /** Production leads browsers to pages by HTTPS alone. */
  isProduction: boolean;
  metrics: Registry;
  logger: Logger;
}

export interface DirectoryClient extends Directory {
  close(): void;
}

/** Exchanges EMV 3-D Secure messages with the directory server: AReq and ARes in JSON. */
export function createDirectory(options: DirectoryOptions): DirectoryClient {
  const { own, logger } = options;
  const protocols = options.isProduction ? ['https:'] : ['https:', 'http:'];
  const lanes = { cardholders: lane(options.callsAtOnce, WAIT_MS) };
  const server = openCounterpart({
    name: 'directory-server',
    baseUrl: options.url,
    timeoutMs: options.timeoutMs,
    identityToken: options.identityToken,
    caFile: options.caFile,
    proxy: options.proxy,
    lanes,
    metrics: options.metrics,
  });

  function answerIn({ status, data }: AxiosResponse<unknown>, threeDSServerTransId: string): DirectoryAnswer {
    const message = readJson(data);
    const answer = status === 200 ? answerInBody(message, threeDSServerTransId, protocols) : UNAVAILABLE;
    if (answer.kind === 'unavailable') {
      const refusal = refusalIn(message, AREQ_ELEMENTS);
      const kind = refusal === undefined ? 'nothing understandable' : 'an error message';
      logger.warn(`the directory server answers ${kind}`, { status, ...refusal });
    }
    return answer;
  }

  return {
    longestCallMs: server.longestMs('cardholders'),
    prepare(request) {
      const body = authenticationRequest(request, own);
      return () =>
        server.call<DirectoryAnswer>('cardholders', {
          party: request.merchantAccount,
          operation: 'authenticate',
          lateAnswer: () => (request.isTooLate() ? TOO_LATE : undefined),
          send: (http) => http.post<unknown>('/ds/v2/authenticate', body),
          read: (response) => answerIn(response, request.threeDSServerTransId),
          onFault(fault) {
            logger.warn('the directory server does not answer', { reason: fault });
            return UNAVAILABLE;
          },
        });
    },
    close: () => server.close(),
  };
}

/** Reads the ARes. One for another transaction, or with unknown content, counts as no answer. @param protocols of the issuer's page */
function answerInBody(message: unknown, threeDSServerTransId: string, protocols: readonly string[]): DirectoryAnswer {
  const fields = messageFields(message, 'ARes');
  const transStatus = oneOf(TRANS_STATUSES, fields?.['transStatus']);
  const dsTransId = transactionId(fields?.['dsTransID']);
  const acsTransId = transactionId(fields?.['acsTransID']);
  const isEcho = transactionId(fields?.['threeDSServerTransID']) === threeDSServerTransId;
  if (fields === undefined || transStatus === undefined || !isEcho) return UNAVAILABLE;
  if (dsTransId === undefined || acsTransId === undefined) return UNAVAILABLE;
  const reason = twoDigits(fields['transStatusReason']);
  const value = authenticationValue(fields['authenticationValue']);
  const acsUrl = webAddress(addressText(fields['acsURL']), protocols)?.href;
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
