/** Marks a setting that is an address of MongoDB; `config.ts` declares it to ajv. */
export const MONGODB_KEYWORD = 'mongodb';

export const NOT_ENCODED =
  'has a character in its user or password that is read as part of the address: percent-encode it (@ is %40, / is %2F, : is %3A, ? is %3F, # is %23, % is %25)';

const ENCODED = String.raw`(?:[^@/?#%:[\]]|%[0-9a-fA-F]{2})*`;
const CREDENTIALS = new RegExp(`^${ENCODED}(?::${ENCODED})?$`);
/** Hosts, with `%2F…sock` for a socket, then a database and options. */
const SERVERS =
  /^(?:\[[0-9a-fA-F:.]+\]|[^@/?#:,[\]]+)(?::\d+)?(?:,(?:\[[0-9a-fA-F:.]+\]|[^@/?#:,[\]]+)(?::\d+)?)*(?:\/[^@/?#]*)?(?:\?(?:\w+=[^&]*(?:&|$))*)?$/;
const SCHEME = /^mongodb(?:\+srv)?:\/\//;

/**
 * Whether the user or the password of an address has characters that RFC 3986 keeps for the address itself, or a `%` that
 * encodes nothing. Such an address is read as one without a user, or of other hosts. What is wrong otherwise is the
 * driver's to report.
 */
export function hasPlainCredentials(uri: string): boolean {
  const [scheme] = SCHEME.exec(uri) ?? [];
  if (scheme === undefined) return false;
  const rest = uri.slice(scheme.length);
  if (SERVERS.test(rest)) return false;
  // A password may have an @, and so may an option. The first that only servers follow ends the credentials.
  for (let at = rest.indexOf('@'); at !== -1; at = rest.indexOf('@', at + 1))
    if (SERVERS.test(rest.slice(at + 1))) return !CREDENTIALS.test(rest.slice(0, at));
  return false;
}
