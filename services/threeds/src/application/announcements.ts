import type { ThreedsEvent } from '@gateway/contracts';
import type { Announcement } from '@gateway/mongo';
import type { Authentication, AuthenticationEvent } from '../domain/authentication';
import type { Ports } from './ports';

/** Where the cardholder's browser is sent: the merchants' `acs_url`, at most 255 characters. */
export function pageAddress(publicUrl: string, pageId: string): string {
  return `${publicUrl}/challenge/${pageId}`;
}

/** The message to card-processing for a domain event; undefined for events that only this service uses. */
export function announcer(ports: Pick<Ports, 'proofs' | 'publicUrl'>) {
  return (
    authentication: Authentication,
    event: AuthenticationEvent,
    { at }: { at: number },
  ): Announcement | undefined => {
    const announced = announcement(ports, authentication, event, at);
    return announced && { ...announced, correlationId: authentication.correlationId };
  };
}

function announcement(
  ports: Pick<Ports, 'proofs' | 'publicUrl'>,
  authentication: Authentication,
  event: AuthenticationEvent,
  at: number,
): ThreedsEvent | undefined {
  const { paymentId, reference, merchantAccount, transactionType, pageId } = authentication;
  const occurred = { paymentId, reference, merchantAccount, transactionType, occurredAt: at };
  const bringsProof = transactionType === 'AUTH3D';
  const page = {
    acsUrl: pageAddress(ports.publicUrl, pageId),
    ...(bringsProof ? { pareq: ports.proofs.pareq(authentication) } : {}),
  };
  const proof = bringsProof ? { proofHash: ports.proofs.paresHash(authentication) } : {};
  switch (event.type) {
    case 'ChallengeStarted':
      return { type: 'ChallengeRequired', data: { ...occurred, ...page, ids: event.ids } };
    case 'Authenticated': {
      const { ids, challenged, eci, authenticationValue } = event;
      const data = { ...occurred, ...page, ids, challenged, eci, authenticationValue, ...proof };
      return { type: 'CardholderAuthenticated', data };
    }
    case 'Refused': {
      const { ids, challenged, code, eci, dueClockMs } = event;
      // Without a challenge there was no page, so no one has a PaRes.
      const shown = challenged ? proof : {};
      const due = dueClockMs === undefined ? {} : { dueClockMs };
      const data = { ...occurred, ids, challenged, code, ...(eci === undefined ? {} : { eci }), ...shown, ...due };
      return { type: 'AuthenticationRefused', data };
    }
    case 'AuthenticationRequested':
    case 'ReturnUrlChosen':
    case 'ChallengeMoved':
      return undefined;
  }
}
