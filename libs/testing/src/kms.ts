import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endHolder, startHolder } from './servers';

/** A stand-in for AWS KMS. It takes any credentials. */
export interface Kms {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts moto's KMS for the caller alone. It ends with this process, even if that is killed.
 *
 * @throws Error with one sentence if this machine cannot run it.
 */
export async function openKms(): Promise<Kms> {
  const holder = startHolder('test-kms.mjs');
  const ended = once(holder, 'exit').then(() => Promise.reject(new Error('the KMS process exited without a message')));
  const [line] = (await Promise.race([once(createInterface({ input: holder.stdout }), 'line'), ended])) as [string];
  ended.catch(() => undefined);
  const announced = JSON.parse(line) as { url: string } | { failure: string };
  if ('failure' in announced) throw new Error(announced.failure);
  return { url: announced.url, close: () => endHolder(holder) };
}
