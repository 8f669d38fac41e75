import type { Registry } from '@gateway/service-kit';
import { Counter } from '@gateway/service-kit';
import type { AuthenticationEvent } from '../domain/authentication';

/** Counts the results of authentications: `challenge`, `authenticated`, or the code of a refusal. */
export function countOutcomes(metrics: Registry): (event: AuthenticationEvent) => void {
  const outcomes = new Counter({
    name: 'gateway_authentications_total',
    help: 'Outcomes of authentications: challenge, authenticated, or the code of the refusal',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return (event) => {
    if (isInside(event)) return;
    const refused = event.type === 'Refused' ? String(event.code) : undefined;
    outcomes.inc({ outcome: refused ?? (event.type === 'Authenticated' ? 'authenticated' : 'challenge') });
  };
}

function isInside({ type }: AuthenticationEvent): boolean {
  return type === 'AuthenticationRequested' || type === 'ReturnUrlChosen' || type === 'ChallengeMoved';
}
