import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The address of the gateway that `npm start` last started in a checkout: its `PORT` may have been moved.
 * @param root of the checkout. Where the package is installed elsewhere there is none, and the default holds.
 */
export function gatewayOfCheckout(root: string): { GATEWAY_URL?: string } {
  try {
    const settings = JSON.parse(readFileSync(join(root, '.gateway', 'environment.json'), 'utf8')) as unknown;
    const url = (settings as { PUBLIC_BASE_URL?: unknown } | null)?.PUBLIC_BASE_URL;
    return typeof url === 'string' ? { GATEWAY_URL: url } : {};
  } catch {
    // Never started, not a checkout, or the file of another user.
    return {};
  }
}
