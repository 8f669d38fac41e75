import { hasAllowedPort } from './ports';

test.each(['0', '22', '25', '53', '6667', '10080'])('the port %s is refused', (port) => {
  expect(hasAllowedPort(new URL(`https://shop.example:${port}/`))).toBe(false);
});

test.each(['', ':443', ':80', ':8443', ':65535'])('an address with "%s" is allowed', (port) => {
  expect(hasAllowedPort(new URL(`https://shop.example${port}/`))).toBe(true);
});
