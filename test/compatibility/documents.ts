import type { AccountRecord } from '../../libs/accounts/src/account-record';
import type { ClockRecord } from '../../libs/accounts/src/sandbox-clocks';
import type { WebhookSecretsRecord } from '../../libs/accounts/src/webhook-secrets';
import type { StoredEntry } from '../../libs/audit/src/audit-log';
import type { StoredProgress } from '../../libs/mongo/src/progress';
import type { StoredNumber } from '../../libs/vault/src/card-numbers';
import type { StoredCard } from '../../libs/vault/src/card-records';
import type { StoredCvv } from '../../libs/vault/src/cvvs';
import type { StoredCheckout } from '../../services/api-edge/src/adapters/mongo/checkouts';
import type { StoredJournalEntry } from '../../services/api-edge/src/adapters/mongo/journal';
import type { StoredTestRecordCount } from '../../services/api-edge/src/adapters/mongo/test-record-counts';
import type { JournalEntry, OperationEntry, PayoutEntry } from '../../services/api-edge/src/application/ports';
import type { StoredDeadline } from '../../services/auth-expiry/src/adapters/mongo/deadlines';
import type { StoredAttempt } from '../../services/callback-dispatcher/src/adapters/mongo/attempts';
import type { StoredFeedEntry } from '../../services/callback-dispatcher/src/adapters/mongo/feed';
import type { IncompleteCallback, StoredDelivery } from '../../services/callback-dispatcher/src/application/ports';
import type { StoredCounter } from '../../services/card-processing/src/adapters/mongo/counters';
import type { StoredPayment } from '../../services/card-processing/src/application/ports';
import type { Batch, Lease, Member, ReportRecord } from '../../services/payout/src/adapters/banks/iso20022/records';
import type { StoredHolds } from '../../services/payout/src/adapters/mongo/holds';
import type { StoredReservation } from '../../services/payout/src/adapters/mongo/reservations';
import type { StoredPayout } from '../../services/payout/src/application/ports';
import type { StoredAuthentication } from '../../services/threeds/src/application/ports';

/** With the fields of its kind, which the adapter reads only through indexes. */
type Kept<Entry extends JournalEntry> = Omit<StoredJournalEntry, keyof JournalEntry> &
  Omit<Entry, 'reference' | 'command'> &
  Pick<Partial<Entry>, 'command'>;

/**
 * What each collection stores, by `database.collection`. The schemas of documents follow from it. The simulator is no
 * part of a deployment, so its collections are not here.
 */
export interface Documents {
  'accounts.accounts': AccountRecord;
  'accounts.clocks': ClockRecord;
  'accounts.webhookSecrets': WebhookSecretsRecord;
  'audit.entries': StoredEntry;
  'callbacks.attempts': StoredAttempt;
  'callbacks.deliveries': StoredDelivery;
  'callbacks.feed': StoredFeedEntry;
  'callbacks.incomplete': IncompleteCallback;
  'callbacks.progress': StoredProgress;
  'cards.counters': StoredCounter;
  'cards.payments': StoredPayment;
  'cards.progress': StoredProgress;
  'edge.checkouts': StoredCheckout;
  'edge.journal': Kept<OperationEntry> | Kept<PayoutEntry>;
  'edge.progress': StoredProgress;
  'edge.test_record_counts': StoredTestRecordCount;
  'expiry.deadlines': StoredDeadline;
  'expiry.progress': StoredProgress;
  'payouts.holds': StoredHolds;
  'payouts.iso20022_batches': Batch;
  'payouts.iso20022_leases': Lease;
  'payouts.iso20022_members': Member;
  'payouts.iso20022_reports': ReportRecord;
  'payouts.payouts': StoredPayout;
  'payouts.progress': StoredProgress;
  'payouts.reservations': StoredReservation;
  'threeds.authentications': StoredAuthentication;
  'threeds.progress': StoredProgress;
  'vault.cards': StoredCard;
  'vault.cvvs': StoredCvv;
  'vault.numbers': StoredNumber;
}
