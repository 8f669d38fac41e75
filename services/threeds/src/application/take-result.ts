import type { ReceivedResult, ResultRefusal } from '../domain/decide';
import { decideResult } from '../domain/decide';
import type { Ports } from './ports';

export interface ResultMessage extends ReceivedResult {
  threeDSServerTransId: string;
}

/** `accepted` once the outcome is stored, also for repeated messages. */
export type ResultAnswer = 'accepted' | 'unknown-transaction' | ResultRefusal;

/** Handles the result message of a challenge. The caller has checked its signature. */
export async function takeResult(ports: Ports, message: ResultMessage): Promise<ResultAnswer> {
  const read = await ports.authentications.findByTransaction(message.threeDSServerTransId);
  if (read === null) return 'unknown-transaction';
  const { rejection = 'repeated' } = await ports.handle<ResultRefusal | 'repeated'>(read, (current) => {
    const verdict = decideResult(current, message, ports.now());
    if (verdict.kind === 'taken') return [verdict.event];
    return verdict.kind === 'refused' ? verdict.reason : 'repeated';
  });
  return rejection === 'repeated' ? 'accepted' : rejection;
}
