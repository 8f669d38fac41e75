import type { KeyObject } from 'node:crypto';
import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Secret } from '@gateway/contracts';
import { unixSeconds } from '@gateway/contracts';
import { isRetryable } from '@gateway/service-kit';
import type { Field } from '../domain/callback';
import { signedText } from '../domain/callback';
import type { CallbackRequest, Merchant, Ports, StoredDelivery } from './ports';

/** A callback as one attempt sends it. */
export type SignedCallback = Pick<CallbackRequest, 'body' | 'headers'>;

/**
 * Signs a callback for an attempt that begins now. The body changes only with the secret of its `checkSum`; of the headers
 * only time and signature change from attempt to attempt. Returns the reason if it cannot be signed. Throws a
 * RetryableError if the accounts cannot be read.
 */
export async function signDelivery(
  ports: Pick<Ports, 'merchants' | 'now' | 'logger'>,
  delivery: StoredDelivery,
): Promise<SignedCallback | { problem: string }> {
  const merchant = await ports.merchants.find(delivery.merchantAccount);
  if (merchant === undefined) return { problem: 'the account is unknown' };
  try {
    const body = bodyOf(delivery.fields, await merchant.secret(delivery.kind));
    return { body, headers: await headersOf(delivery, { body, merchant, now: ports.now }) };
  } catch (error) {
    if (isRetryable(error)) throw error;
    ports.logger.error("a callback cannot be signed: SIGNING_KEYS does not open its account's secrets", { error });
    return { problem: 'the signing secret cannot be opened' };
  }
}

/** interface.md, "Authentication": SHA-256, in lower-case hex. */
function bodyOf(fields: readonly Field[], secret: Secret): string {
  const checkSum = hash('sha256', `${signedText(fields)}|${secret.expose()}`);
  const form = new URLSearchParams();
  for (const [name, value] of [...fields, ['checkSum', checkSum] as const]) form.append(name, value);
  return form.toString();
}

/** ADR 0065. The id is the delivery's, so that a merchant recognizes a repetition. */
async function headersOf(
  { _id: id, sequence }: StoredDelivery,
  { body, merchant, now }: { body: string; merchant: Merchant; now: () => number },
): Promise<Record<string, string>> {
  const secrets = await merchant.webhookSecrets();
  const timestamp = String(unixSeconds(now()));
  const signatures = secrets.map((secret) => signatureOf(`${id}.${timestamp}.${body}`, secret));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
    ...(sequence === undefined ? {} : { 'gateway-sequence': String(sequence) }),
  };
}

/** Standard Webhooks, "Symmetric signatures". */
function signatureOf(text: string, secret: Secret): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(text).digest('base64')}`;
}

const SECRET_PREFIX = 'whsec_';

/** Making a key takes longer than signing with it. They go with the secrets, which the accounts keep for 30 s. */
const keys = new WeakMap<Secret, KeyObject>();

/** The secret's base64 part, decoded. */
function keyOf(secret: Secret): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(secret.expose().slice(SECRET_PREFIX.length), 'base64');
  keys.set(secret, key);
  return key;
}
