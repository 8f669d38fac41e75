/**
 * An operation's `reference`: 20 characters of `[0-9A-Z]`. The first 16 name the payment (the base transaction and all
 * that follow it) and are the Kafka key; the last 4 name the operation.
 */
export const PAYMENT_ID_LENGTH = 16;
export const REFERENCE_LENGTH = 20;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The largest multiple of 36 in a byte. Larger bytes are discarded, so that every character is equally likely. */
const UNBIASED_BYTES = 252;

/** The last 4 characters of a system operation's reference begin with this. */
const SYSTEMS_OWN = 'ZZ';

export type RandomBytes = (size: number) => Uint8Array;

function randomText(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < UNBIASED_BYTES && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

export function newPaymentId(randomBytes: RandomBytes): string {
  return randomText(PAYMENT_ID_LENGTH, randomBytes);
}

export function newReference(paymentId: string, randomBytes: RandomBytes): string {
  const ofOperation = randomText(REFERENCE_LENGTH - PAYMENT_ID_LENGTH, randomBytes);
  return ofOperation.startsWith(SYSTEMS_OWN) ? newReference(paymentId, randomBytes) : paymentId + ofOperation;
}

/**
 * The reference of an operation that the system adds to a payment: `number` counts within the payment, 0 to 1295. No
 * merchant's operation, now or later, has such a reference.
 */
export function systemReference(paymentId: string, number: number): string {
  const counted = number.toString(ALPHABET.length).toUpperCase();
  return paymentId + SYSTEMS_OWN + counted.padStart(REFERENCE_LENGTH - PAYMENT_ID_LENGTH - SYSTEMS_OWN.length, '0');
}

export function paymentIdOf(reference: string): string {
  return reference.slice(0, PAYMENT_ID_LENGTH);
}
