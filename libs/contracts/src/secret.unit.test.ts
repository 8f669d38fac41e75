import { inspect } from 'node:util';
import { Secret } from './secret';

const secret = new Secret('4111111111111111');

test.each([
  ['JSON', JSON.stringify({ card: secret, list: [secret] })],
  ['a string', String(secret)],
  // eslint-disable-next-line @typescript-eslint/restrict-template-expressions -- a likely mistake
  ['a template', `${secret}`],
  ['inspection', inspect({ card: secret }, { depth: 5, showHidden: true })],
  ['its keys', Object.entries(secret).join()],
])('%s does not show the value', (_how, text) => {
  expect(text).not.toContain('4111');
});

test('expose gives the value', () => {
  expect(secret.expose()).toBe('4111111111111111');
});
