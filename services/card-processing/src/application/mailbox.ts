import { domainToASCII } from 'node:url';

/** Domains of one provider, with the name that stands for all, whose mailboxes ignore dots. */
const WITHOUT_DOTS: ReadonlyMap<string, string> = new Map([
  ['gmail.com', 'gmail.com'],
  ['googlemail.com', 'gmail.com'],
]);

/**
 * The mailbox that an e-mail address (at most 255 characters, by its schema) reaches, for counting: `Ann+3@Example.com`
 * is Ann's. Some letters may be told apart by a server that nobody uses; a tester gets no new mailbox by them.
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const written = (at < 0 ? email : email.slice(0, at)).normalize('NFKC').toLowerCase();
  if (at < 0) return written;
  const domain = domainOf(email.slice(at + 1));
  const plus = written.indexOf('+');
  const local = plus > 0 ? written.slice(0, plus) : written;
  const provider = WITHOUT_DOTS.get(domain);
  return provider === undefined ? `${local}@${domain}` : `${local.replaceAll('.', '')}@${provider}`;
}

/** A domain in the form in which it is looked up. */
function domainOf(written: string): string {
  const domain = domainToASCII(written) || written.toLowerCase();
  return domain.endsWith('.') ? domain.slice(0, -1) : domain;
}
