import type { Callback, Field } from '../domain/callback';
import type { Merchant, Ports } from './ports';

/**
 * decisions.md, section 8: only parameters that the account has activated and the outcome has a value for. `later` if the
 * owner of the outcome is not to be asked now. Throws a RetryableError if it does not answer.
 */
export async function customFieldsOf(
  ports: Pick<Ports, 'customValues' | 'ownerGates' | 'logger'>,
  callback: Callback,
  merchant: Merchant | undefined,
): Promise<Field[] | 'later'> {
  const { kind, merchantAccount, reference } = callback;
  if (merchant === undefined || merchant.customParameters.length === 0) return [];
  const values = await ports.ownerGates[kind].ask(merchantAccount, () => ports.customValues(callback));
  if (values === 'later') return 'later';
  if (values === undefined) {
    ports.logger.warn('the owner of an outcome does not know what it has published; no custom parameters', {
      kind,
      reference,
    });
  }
  return merchant.customParameters.flatMap((name) => {
    const value = values?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}
