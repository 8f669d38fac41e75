import { untilWritten } from '@gateway/service-kit';
import type { ReceivedResult, ResultRefusal } from '../domain/decide';
import { decideResult } from '../domain/decide';
import type { Ports, StoredAuthentication } from './ports';
import { record } from './record';

export interface ResultMessage extends ReceivedResult {
  threeDSServerTransId: string;
}

/** `accepted` once the outcome is on record, however often the message comes. */
export type ResultAnswer = 'accepted' | 'unknown-transaction' | ResultRefusal;

/** Takes the result message of a challenge. The caller has checked its signature. */
export async function takeResult(ports: Ports, message: ResultMessage): Promise<ResultAnswer> {
  return untilWritten(async () => {
    const stored = await ports.authentications.findByTransaction(message.threeDSServerTransId);
    return stored === null ? 'unknown-transaction' : judge(ports, stored, message);
  });
}

async function judge(
  ports: Ports,
  stored: StoredAuthentication,
  message: ResultMessage,
): Promise<ResultAnswer | undefined> {
  const verdict = decideResult(stored, message, ports.now());
  switch (verdict.kind) {
    case 'taken':
      return (await record(ports, stored, verdict.event)) && 'accepted';
    case 'repeated':
      return 'accepted';
    case 'refused':
      return verdict.reason;
  }
}
