import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createClient } from '@payment-gateway/client';
import { createShop } from './shop';

/** Beside a running `npm start`, as the README says. */
const {
  GATEWAY_URL = 'http://127.0.0.1:8080',
  PORT = '8443',
  TLS_CERT = 'cert.pem',
  TLS_KEY = 'key.pem',
} = process.env;
const { ACCOUNT = 'demo_merchant', PASSWORD = 'demo_password', PUBLIC_URL = `https://localhost:${PORT}` } = process.env;

const client = createClient({ baseUrl: GATEWAY_URL, account: ACCOUNT, password: PASSWORD });
const secrets = { password: PASSWORD };
const shop = createShop({ client, secrets, publicUrl: PUBLIC_URL, price: { amount: '25.00', currency: 'XTS' } });
createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, shop).listen(Number(PORT), () => {
  process.stdout.write(`Shop ready on ${PUBLIC_URL}\n`);
});
