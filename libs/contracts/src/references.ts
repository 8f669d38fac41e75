/**
 * An operation's `reference`: 20 characters of `[0-9A-Z]`. The first 16 name the payment, the base transaction and all
 * that follows from it, and are the Kafka key; the last 4 name the operation in it.
 */
export const PAYMENT_ID_LENGTH = 16;
export const REFERENCE_LENGTH = 20;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The largest multiple of 36 in a byte: larger bytes are thrown away, so that every character is equally likely. */
const UNBIASED_BYTES = 252;

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
  return paymentId + randomText(REFERENCE_LENGTH - PAYMENT_ID_LENGTH, randomBytes);
}

export function paymentIdOf(reference: string): string {
  return reference.slice(0, PAYMENT_ID_LENGTH);
}
