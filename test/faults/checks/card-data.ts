import { appearances, showsCvv } from '../../support/traces';
import type { Evidence } from '../model/evidence';

/** No collection, topic or log contains a card number or CVV: raw, in hex, or in base64. */
export function cardDataStaysInTheVault(evidence: Evidence): string[] {
  const { pans, cvvs } = evidence.secrets;
  const finders = pans.flatMap((pan) => appearances(pan));
  const problems: string[] = [];
  for (const [place, text] of written(evidence)) {
    const pan = finders.find(({ isIn }) => isIn(text));
    if (pan !== undefined) problems.push(`a card number in ${place} (${pan.as})`);
    if (cvvs.some((cvv) => showsCvv(cvv, text))) problems.push(`a CVV in ${place}`);
  }
  return problems;
}

/** Everything the services have written, as one text per place, since each of several searches reads all of it. */
function* written({ documents, messages, logs }: Evidence): Generator<[string, string]> {
  for (const [name, found] of documents) yield [name, JSON.stringify(found)];
  for (const [topic, found] of Map.groupBy(messages, ({ topic }) => topic)) {
    yield [topic, found.map(({ key, value, headers }) => `${key} ${value} ${JSON.stringify(headers)}`).join('\n')];
  }
  for (const { name, text } of logs) yield [`the log of ${name}`, text];
}
