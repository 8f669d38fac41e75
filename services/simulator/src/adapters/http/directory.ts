import { authenticate } from '../../application/directory/authenticate';
import type { DirectoryPorts } from '../../application/directory/ports';
import { authenticationResponse, MESSAGE_VERSION } from '../../domain/directory/messages';
import { ERROR_CODES, MessageProblem, readAuthenticationRequest } from './directory-request';
import type { HttpAnswer, HttpProblem, HttpRequest, Route } from './listener';
import { json } from './listener';

/** Told about every authentication, for the figures: a transStatus, `unavailable` or `error`. */
export type OnAuthentication = (labels: { answer: string }) => void;

/** The directory server's API: AReq in, ARes or Erro out (EMV 3-D Secure 2.2). `acsURL` is where challenges are. */
export function directoryRoutes(
  ports: DirectoryPorts,
  acsURL: () => string,
  onAuthentication: OnAuthentication,
): Route[] {
  return [
    {
      method: 'POST',
      path: '/ds/v2/authenticate',
      handle: (request) => answer(ports, acsURL, onAuthentication, request),
      refusal: (problem) => {
        onAuthentication({ answer: 'error' });
        return json(problem.status, errorMessage(problem));
      },
    },
  ];
}

async function answer(
  ports: DirectoryPorts,
  acsURL: () => string,
  onAuthentication: OnAuthentication,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const authentication = await authenticate(ports, readAuthenticationRequest(await request.json()));
  if (authentication === 'other-request') {
    throw new MessageProblem(ERROR_CODES.dataNotValid, 'threeDSServerTransID came before with other data');
  }
  if (authentication === 'unavailable') {
    onAuthentication({ answer: 'unavailable' });
    return json(503, { error: 'directory unavailable' });
  }
  const response = authenticationResponse(authentication, acsURL());
  onAuthentication({ answer: response.transStatus });
  return json(200, response);
}

function errorMessage(problem: HttpProblem) {
  return {
    messageType: 'Erro',
    messageVersion: MESSAGE_VERSION,
    errorCode: errorCodeOf(problem),
    errorComponent: 'D',
    errorDescription: problem.message,
  };
}

function errorCodeOf(problem: HttpProblem): string {
  if (problem instanceof MessageProblem) return problem.errorCode;
  return problem.status >= 500 ? ERROR_CODES.systemFailure : ERROR_CODES.messageInvalid;
}
