/** All properties of `T`: an optional one without a value is `undefined`, so that the compiler notices a forgotten one. */
export type Complete<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K];
};

/** Leaves out the properties that are `undefined`. */
export function given<T extends object>(properties: Complete<T>): T {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as T;
}
