import { isCurrency } from '@gateway/contracts';

/** Field types of an account's schemas. Messages are for the operator; mongoose replaces `{VALUE}`. */

export const text = { type: String, required: true } as const;
export const whole = (min: number, max: number) =>
  ({
    type: Number,
    required: true,
    min: [min, `{VALUE} is less than ${min}`],
    max: [max, `{VALUE} is more than ${max}`],
    validate: { validator: Number.isSafeInteger, message: '{VALUE} is not a whole number' },
  }) as const;
export const currency = {
  ...text,
  validate: { validator: isCurrency, message: '{VALUE} is not an ISO 4217 currency' },
};
export const atMost = (max: number, message: string) => ({
  validator: (list: readonly unknown[]) => list.length <= max,
  message,
});
export const withoutRepeats = <T>(key: (one: T) => string, message: string) => ({
  validator: (list: readonly T[]) => new Set(list.map(key)).size === list.length,
  message,
});
