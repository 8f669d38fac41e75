import {
  AuthorizationExpiring,
  AuthorizationSettled,
  AuthorizationVoided,
  CardAuthorized,
  HoldMoved,
} from '@gateway/contracts';
import type { MessageHandler, RejectedMessage } from '@gateway/messaging';
import { fieldsOf, headerOf, on } from '@gateway/messaging';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import {
  authorizationEnded,
  authorizationOpened,
  endAnnounced,
  holdMoved,
} from '../../application/follow-authorization';
import type { Ports } from '../../application/ports';

/** The events that begin or end an authorization, move its end or announce it; a worker skips the others. */
export function cardEventHandlers(ports: Pick<Ports, 'deadlines'>): MessageHandler[] {
  return [
    on(CardAuthorized, ({ data }) => retryableWhenTransient(() => authorizationOpened(ports, data))),
    on(AuthorizationExpiring, ({ data }) => retryableWhenTransient(() => endAnnounced(ports, data))),
    on(HoldMoved, ({ data }) => retryableWhenTransient(() => holdMoved(ports, data))),
    ...[AuthorizationSettled, AuthorizationVoided].map((declaration) =>
      on(declaration, ({ data }) => retryableWhenTransient(() => authorizationEnded(ports, data))),
    ),
  ];
}

/** There is no operation to end. Replaying the repaired event brings the deadline up to date. */
export function deadLetterHandler(logger: Logger): (rejected: RejectedMessage) => Promise<void> {
  return async ({ message, reason }) => {
    const type = headerOf(message.headers, 'ce_type');
    const reference = fieldsOf(message)?.['reference'];
    logger.error('dead-lettered card event: its deadline may be missing or stale', {
      type,
      reference,
      reason,
    });
  };
}
