/** Query parameters that a browser brings back to the merchant. Without an attempt there is no reference. */
export interface ReturningOperation {
  reference?: string | undefined;
  transactionUniqueId: string;
}

/**
 * The address that a browser returns to (decisions.md, sections 4 and 5): `redirect_url` with its query and fragment,
 * and the names of the operation added to the query. Serialized as the URL standard does, because a header allows only
 * Latin-1.
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
