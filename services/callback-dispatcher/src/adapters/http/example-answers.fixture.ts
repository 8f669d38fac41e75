import { createAddressGuard } from './address-guard';
import { createCallbackClient } from './callback-client';

/** What a receiver answers, by the name of the call. */
export const EXAMPLE_ANSWERS = { callback: { status: 'OK' } } as const;

/** @param ca PEM of the receiver's authority */
export function exampleCalls(url: string, ca: string) {
  const client = createCallbackClient({ guard: createAddressGuard('127.0.0.0/8'), ca });
  const callback = () => client.post({ url, body: 'reference=ABCDEFGHIJKLMNOP0001', headers: {} });
  return { calls: { callback }, close: () => client.close() };
}
