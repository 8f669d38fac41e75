import { findCardData } from '../../support/card-data-search';
import type { Evidence } from '../model/evidence';

/** No collection, topic or log contains a card number or CVV. */
export function cardDataStaysInTheVault(evidence: Evidence): string[] {
  return findCardData(written(evidence), evidence.secrets);
}

/** Everything the services have written, as one text per place. */
function* written({ documents, messages, logs }: Evidence): Generator<[string, string]> {
  for (const [name, found] of documents) yield [name, JSON.stringify(found)];
  for (const [topic, found] of Map.groupBy(messages, ({ topic }) => topic)) {
    yield [topic, found.map(({ key, value, headers }) => `${key} ${value} ${JSON.stringify(headers)}`).join('\n')];
  }
  for (const { name, text } of logs) yield [`the log of ${name}`, text];
}
