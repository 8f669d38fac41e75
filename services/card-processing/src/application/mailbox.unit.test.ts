import fc from 'fast-check';
import { mailboxOf } from './mailbox';

it.each([
  ['Ann@Example.com', 'ann@example.com'],
  ['ann+1@example.com', 'ann@example.com'],
  ['ann+1+2@EXAMPLE.com.', 'ann@example.com'],
  ['a.n.n@example.com', 'a.n.n@example.com'],
  ['a.n.n+x@gmail.com', 'ann@gmail.com'],
  ['A.N.N@GoogleMail.com', 'ann@gmail.com'],
  ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
  ['ann@XN--BCHER-KVA.example', 'ann@xn--bcher-kva.example'],
  ['ａｎｎ@example.com', 'ann@example.com'],
  ['+ann@example.com', '+ann@example.com'],
  ['ann', 'ann'],
  ['ann@', 'ann@'],
])('%s is %s', (email, mailbox) => expect(mailboxOf(email)).toBe(mailbox));

const local = fc.stringMatching(/^[a-z0-9]{1,20}$/);

it('is the same for every tag, case and, at some providers, every dot', () => {
  fc.assert(
    fc.property(local, fc.stringMatching(/^[a-z0-9+.]{0,30}$/), fc.nat(), (name, tag, cut) => {
      const at = 1 + (cut % name.length);
      const dotted = at < name.length ? `${name.slice(0, at)}.${name.slice(at)}` : name;
      expect(mailboxOf(`${name.toUpperCase()}+${tag}@Shop.example`)).toBe(mailboxOf(`${name}@shop.example`));
      expect(mailboxOf(`${dotted}+${tag}@gmail.com`)).toBe(mailboxOf(`${name}@googlemail.com`));
    }),
  );
});

it('is its own mailbox', () => {
  fc.assert(fc.property(fc.emailAddress(), (email) => expect(mailboxOf(mailboxOf(email))).toBe(mailboxOf(email))));
});
