import type { NewMessage } from '@gateway/mongo';
import { bodyOf } from '@gateway/mongo';
import { currentTrace } from '@gateway/service-kit';
import type { AuthenticationEvent } from '../domain/authentication';
import { evolve } from '../domain/authentication';
import { announcement } from './announcements';
import type { AuthenticationBody, Ports, StoredAuthentication } from './ports';

/** Stores an authentication that nobody has heard of yet. Undefined when there is one of that reference. */
export function recordNew(ports: Ports, body: AuthenticationBody): Promise<StoredAuthentication | undefined> {
  return ports.authentications.insert(body.reference, body, []);
}

/**
 * Writes what was decided, with what others are told about it, if nobody else has written since `stored` was read, and
 * has it published. Undefined when someone has: load, decide again.
 */
export async function record(
  ports: Ports,
  stored: StoredAuthentication,
  event: AuthenticationEvent,
  causationId?: string,
): Promise<StoredAuthentication | undefined> {
  const body = withoutCommand(evolve(bodyOf(stored), event));
  const written = await ports.authentications.update(stored, body, messages(ports, body, event, causationId));
  if (written === undefined) return undefined;
  ports.recorded(event);
  ports.publishEvents(written);
  return written;
}

/** The directory server has been asked: the command, with what it says about the cardholder, is forgotten. */
function withoutCommand({ command, resolveAt, ...rest }: AuthenticationBody): AuthenticationBody {
  if (rest.state.kind !== 'requested' || command === undefined || resolveAt === undefined) return rest;
  return { ...rest, command, resolveAt };
}

function messages(
  ports: Ports,
  body: AuthenticationBody,
  event: AuthenticationEvent,
  causationId: string | undefined,
): NewMessage[] {
  const at = ports.now();
  const announced = announcement(ports, body, event, at);
  if (announced === undefined) return [];
  const trace = currentTrace();
  const message: NewMessage = {
    ...announced,
    id: ports.newId(),
    at,
    correlationId: body.correlationId,
    ...(causationId === undefined ? {} : { causationId }),
    ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
  };
  return [message];
}
