import type { CvvKeyIssuedData } from '@gateway/contracts';
import { CvvKeyIssued } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';

/** The keys have no order, so each is a Kafka key of its own. */
export function publishCvvKeys(publisher: Pick<Publisher, 'publish'>): (data: CvvKeyIssuedData) => Promise<void> {
  return (data) => publisher.publish({ declaration: CvvKeyIssued, data, key: data.keyId, timeMs: data.issuedAt });
}
