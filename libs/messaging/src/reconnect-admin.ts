import type { Admin } from 'kafkajs';
import { tryWithin } from './within';

/**
 * Reconnects after a failed request, because kafkajs does not reopen a broken admin connection. Never throws: the next
 * request shows whether it worked.
 */
export async function reconnectAdmin(admin: Admin, timeoutMs: number): Promise<void> {
  await tryWithin(timeoutMs, 'connecting to the brokers', admin.connect());
}
