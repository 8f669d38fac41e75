import { personBy } from './person';

it.each([
  ['iban', ' de89 3704 0044 0532 0130 00 ', 'DE89370400440532013000'],
  ['holder', '  Ann Lee ', 'Ann Lee'],
  ['reference', 'ABCDEFGHIJKLMNOP0001', 'ABCDEFGHIJKLMNOP0001'],
] as const)('%s %s', (by, given, value) => {
  expect(personBy(by, given)).toEqual({ by, value });
});

it.each([
  ['holder', '', 'has 1 to 255 characters'],
  ['email', 'x'.repeat(256), 'has 1 to 255 characters'],
  ['reference', '4111111111111111', 'has 20 digits'],
] as const)('refuses %s %j', (by, given, problem) => {
  expect(() => personBy(by, given)).toThrow(problem);
});
