import type { AccountAdministration } from './administration';

/** An administration that is opened with the first call, because it loads mongoose. */
export function whenUsed(open: () => AccountAdministration): AccountAdministration {
  let opened: AccountAdministration | undefined;
  const administration = () => (opened ??= open());
  return {
    create: async (...args) => administration().create(...args),
    change: async (...args) => administration().change(...args),
    changeState: async (...args) => administration().changeState(...args),
    rotatePassword: async (...args) => administration().rotatePassword(...args),
    rotatePayoutSecret: async (...args) => administration().rotatePayoutSecret(...args),
    addWebhookSecret: async (...args) => administration().addWebhookSecret(...args),
    ensureWebhookSecret: async (...args) => administration().ensureWebhookSecret(...args),
    retireWebhookSecret: async (...args) => administration().retireWebhookSecret(...args),
    countWebhookSecrets: async (...args) => administration().countWebhookSecrets(...args),
    reencrypt: async () => administration().reencrypt(),
    get: async (...args) => administration().get(...args),
    list: async (...args) => administration().list(...args),
  };
}
