import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayOfCheckout } from './checkout';

const root = mkdtempSync(join(tmpdir(), 'gateway-checkout-'));
const file = join(root, '.gateway', 'environment.json');

afterAll(() => rmSync(root, { recursive: true }));

test('a checkout names its gateway after its first start', () => {
  expect(gatewayOfCheckout(root)).toEqual({});
  mkdirSync(join(root, '.gateway'));
  writeFileSync(file, JSON.stringify({ PORT: '8180', PUBLIC_BASE_URL: 'http://127.0.0.1:8180' }));
  expect(gatewayOfCheckout(root)).toEqual({ GATEWAY_URL: 'http://127.0.0.1:8180' });
});

test.each(['', 'null', '[]', '{"PUBLIC_BASE_URL":8180}'])('%j names none', (text) => {
  mkdirSync(join(root, '.gateway'), { recursive: true });
  writeFileSync(file, text);
  expect(gatewayOfCheckout(root)).toEqual({});
});
