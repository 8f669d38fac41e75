import { randomUUID } from 'node:crypto';
import type { Callback, CallbackSecrets, Client, Outcome } from '@payment-gateway/client';
import { assertNever, expressCallbackHandler } from '@payment-gateway/client';
import type { ErrorRequestHandler, Express, Request, Response } from 'express';
import express from 'express';
import { html, page } from './pages';

/** Beside the payment itself a shop needs to know what was asked for, and what became of it. */
interface Order {
  /** Also the `transaction_unique_id`: made and stored before the gateway hears of it. */
  readonly id: string;
  readonly amount: string;
  readonly currency: string;
  state: 'open' | 'paid' | 'failed' | 'refunded';
  /** Names the payment at the gateway, from its outcome on. */
  reference?: string | undefined;
}

export interface ShopOptions {
  client: Client;
  secrets: CallbackSecrets;
  /** Where browsers and the gateway reach the shop, over https. */
  publicUrl: string;
  price: { amount: string; currency: string };
}

const STILL_OPEN = 'We do not know yet whether your payment went through. Please do not pay again.';
/** The browser is usually back a moment before the callback. */
const BACK_TIMEOUT_MS = 5_000;

/** A shop that sells one thing. It never sees a card: the gateway's own page takes it, with 3-D Secure. */
export function createShop({ client, secrets, publicUrl, price }: ShopOptions): Express {
  /** In memory, so that this example stays short. A real shop's are in its database. */
  const orders = new Map<string, Order>();
  const shop = express();
  // Before any body parser: signatures are over the bytes.
  shop.post('/callback', expressCallbackHandler(secrets, onCallback));
  shop.use(express.urlencoded({ extended: false }));

  shop.get('/', (_request, response) => {
    const form = html`<form method="post" action="/orders">
      <label>Name <input name="name" required value="Ann Lee" /></label>
      <label>E-mail <input name="email" type="email" required value="ann@example.com" /></label>
      <button>Buy for ${price.amount} ${price.currency}</button>
    </form>`;
    response.send(page('A teapot', form));
  });

  shop.post('/orders', async (request, response) => {
    const [name, email] = [fieldOf(request, 'name'), fieldOf(request, 'email')];
    const order: Order = { id: randomUUID(), ...price, state: 'open' };
    orders.set(order.id, order);
    const [first = '', ...rest] = name.trim().split(/\s+/);
    const outcome = await client.checkout({
      transaction_type: 'SALE3D',
      transaction_unique_id: order.id,
      ...price,
      first_name: first,
      last_name: rest.join(' ') || first,
      country: 'DEU',
      user_email: email,
      user_ip: request.ip ?? '',
      callback_url: `${publicUrl}/callback`,
      redirect_url: `${publicUrl}/back`,
    });
    switch (outcome.kind) {
      case 'page':
        return response.redirect(303, outcome.checkout_url);
      case 'error':
        order.state = 'failed';
        return void response.send(page('Not paid', html`<p>${outcome.cardholderText ?? ''}</p>`));
      case 'unknown':
        // Nobody can have paid on a page whose address nobody has.
        return void response.send(page('Not paid', html`<p>Please try again later.</p>`));
      default:
        return assertNever(outcome);
    }
  });

  shop.get('/back', async (request, response) => {
    const { transaction_unique_id: id = '' } = request.query as Partial<Record<string, string>>;
    const order = orders.get(id);
    if (order === undefined) return notFound(response);
    if (order.state === 'open') {
      const subject = { transaction_unique_id: order.id };
      const outcome = await client.outcomeOf(subject, { timeoutMs: BACK_TIMEOUT_MS });
      // Only the callback says that there will be no other attempt on the page.
      if (outcome.kind === 'approved') settle(order, outcome);
    }
    response.redirect(303, `/orders/${order.id}`);
  });

  shop.get('/orders/:id', (request, response) => {
    const order = orders.get(request.params.id);
    if (order === undefined) return notFound(response);
    const refund = html`<form method="post" action="/orders/${order.id}/refund"><button>Refund</button></form>`;
    response.send(page(TITLES[order.state], order.state === 'paid' ? refund : html`<p>${NOTES[order.state]}</p>`));
  });

  /** In a real shop only the staff may do this. */
  shop.post('/orders/:id/refund', async (request, response) => {
    const order = orders.get(request.params.id);
    if (order?.reference === undefined) return notFound(response);
    const { id, reference, amount, currency } = order;
    // One refund per order, however often the button is pressed: the same request gets the same answer.
    const refund = { transaction_unique_id: `refund-${id}`, reference, amount, currency };
    const outcome = await client.refund(refund);
    if (outcome.kind === 'approved') order.state = 'refunded';
    response.redirect(303, `/orders/${id}`);
  });

  function onCallback(callback: Callback): void {
    const order = orders.get(callback.transaction_unique_id);
    // A callback may come twice, and after the browser.
    if (order !== undefined && callback.kind === 'card') settle(order, callback.outcome);
  }

  // Otherwise express shows its stack to whoever asks.
  const refuse: ErrorRequestHandler = (_error, _request, response, _next) => {
    response.status(500).send(page('Sorry', html`<p>Something went wrong. ${STILL_OPEN}</p>`));
  };
  return shop.use(refuse);
}

/** A form has whatever a browser sends: nothing, or a field twice. */
function fieldOf({ body }: Request, name: string): string {
  const value = (body as Partial<Record<string, unknown>> | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** Once. What comes later, or again, changes nothing. */
function settle(order: Order, outcome: Outcome<'approved' | 'declined' | 'error'>): void {
  if (order.state !== 'open') return;
  switch (outcome.kind) {
    case 'approved':
      order.state = 'paid';
      order.reference = outcome.reference;
      return;
    case 'declined':
    case 'error':
      order.state = 'failed';
      return;
    default:
      assertNever(outcome);
  }
}

const TITLES = { open: 'Thank you', paid: 'Paid', failed: 'Not paid', refunded: 'Refunded' } as const;
const NOTES = {
  open: STILL_OPEN,
  paid: '',
  failed: 'Your payment did not go through.',
  refunded: 'Your money is on its way back.',
} as const;

function notFound(response: Response): void {
  response.status(404).send(page('Not found', html`<p>There is no such order.</p>`));
}
