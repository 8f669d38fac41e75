import type { TString } from '@sinclair/typebox';
import { secretText } from './secret-settings';

/** More than a rotation needs. */
const KEYS_MAX = 4;

/**
 * A setting of HMAC keys: base64 texts, comma-separated. The first one makes, all of them check, so that two replicas with
 * another first one understand each other (ADR 0085).
 *
 * @param options.entry the pattern of one key, without anchors
 * @param options.use what the keys are for
 */
export function keyListText({ entry, use }: { entry: string; use: string }): TString {
  return secretText({
    pattern: `^(?:${entry})(?:,(?:${entry})){0,${KEYS_MAX - 1}}$`,
    description: `Base64 of at least 32 bytes, or up to ${KEYS_MAX} of them, comma-separated, the active one first: ${use}`,
  });
}

/** The keys of such a setting, the active one first. */
export function keyListOf(text: string): readonly [Buffer, ...Buffer[]] {
  const [first = '', ...others] = text.split(',');
  return [Buffer.from(first, 'base64'), ...others.map((other) => Buffer.from(other, 'base64'))];
}
