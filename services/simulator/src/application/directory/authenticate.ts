import type { Authentication, AuthenticationRequest } from '../../domain/directory/authentication';
import { sameAuthentication } from '../../domain/directory/authentication';
import { decideAuthentication } from '../../domain/directory/decide';
import { untilSettled } from '../until-settled';
import type { DirectoryPorts } from './ports';

/**
 * Authenticates once per `threeDSServerTransID`: asked again, the directory server says the same again.
 * `other-request`: the id came before with other data.
 */
export function authenticate(
  ports: DirectoryPorts,
  request: AuthenticationRequest,
): Promise<Authentication | 'unavailable' | 'other-request'> {
  return untilSettled(async () => {
    const decided = decideAuthentication(request, {
      now: ports.now(),
      dsTransID: ports.newTransactionId(),
      acsTransID: ports.newTransactionId(),
      authenticationValue: ports.newAuthenticationValue(),
    });
    if (decided === 'unavailable' || (await ports.authentications.insert(decided))) return decided;
    const known = await ports.authentications.findLatestOf(request.threeDSServerTransID);
    if (known === undefined) return undefined;
    return sameAuthentication(known.authentication.request, request) ? known.authentication : 'other-request';
  });
}
