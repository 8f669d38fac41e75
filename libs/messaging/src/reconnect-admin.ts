import type { Admin } from 'kafkajs';
import { within } from './within';

/**
 * After a question that found no answer: kafkajs does not come back to an admin connection that broke by itself. Never
 * throws; the next question tells whether it helped.
 */
export async function reconnectAdmin(admin: Admin, timeoutMs: number): Promise<void> {
  await within(timeoutMs, 'connecting to the brokers', admin.connect()).catch(() => undefined);
}
