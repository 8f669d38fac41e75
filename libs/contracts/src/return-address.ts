/** What a browser brings back to the merchant. There is no reference before anything was tried. */
export interface ReturningOperation {
  reference?: string | undefined;
  transactionUniqueId: string;
}

/**
 * Where a browser ends (decisions.md, sections 4 and 5): `redirect_url`, query and fragment kept, with the names of the
 * operation added to its query. As the URL standard serialises it, whatever script it was written in: a header takes
 * nothing beyond Latin-1.
 */
export function returnAddress(redirectUrl: string, { reference, transactionUniqueId }: ReturningOperation): string {
  const url = new URL(redirectUrl);
  const names = new URLSearchParams({
    ...(reference === undefined ? {} : { reference }),
    transaction_unique_id: transactionUniqueId,
  }).toString();
  const separator = url.search === '' || url.search.endsWith('&') ? '' : '&';
  url.search += separator + names;
  return url.href;
}
