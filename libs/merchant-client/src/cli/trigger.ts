import { randomUUID } from 'node:crypto';
import { textIn } from '../answers';
import { RESPONSE_CODES } from '../codes';
import type { Send } from '../send';
import { askOnce, GatewayError, requireSuccess } from './gateway';
import type { Terminal } from './terminal';
import type { ScenarioName } from './scenarios';
import { SCENARIOS } from './scenarios';

const CUSTOMER = {
  card_holder: 'Jane Doe',
  first_name: 'Jane',
  last_name: 'Doe',
  country: 'USA',
  user_email: 'jane.doe@example.com',
  user_ip: '203.0.113.7',
};
const CARD = { card_exp_month: '12', card_exp_year: '2040', cvv: '123' };
/** The browser of a challenge ends there. */
const REDIRECT_URL = 'https://localhost/back';

/** Makes the payment of a scenario in XTS. Its callback follows by itself, or after its challenge. */
export async function trigger({
  scenario,
  amount = SCENARIOS[scenario].amount,
  callbackUrl,
  send,
  terminal,
}: {
  scenario: ScenarioName;
  /** Chooses the bank's answer: decisions.md, section 3. */
  amount?: string;
  callbackUrl: string;
  send: Send;
  terminal: Terminal;
}): Promise<void> {
  const id = `trigger-${randomUUID()}`;
  const answer = await askOnce(
    send,
    requestOf(scenario, { transaction_unique_id: id, amount, currency: 'XTS', callback_url: callbackUrl }),
  );
  const reference = textIn(answer, 'reference');
  // An unknown outcome has its callback later.
  if (answer.code !== RESPONSE_CODES.SUCCESS && reference === undefined) requireSuccess(answer);
  if (reference === undefined) throw new GatewayError('The gateway answers without a reference.');
  terminal.print(`${scenario}: ${reference}, ${id}`);
  const page = textIn(answer, 'acs_url');
  if (scenario === 'sale3d-challenge' && page !== undefined) terminal.print(`Its cardholder decides here: ${page}`);
}

function requestOf(scenario: ScenarioName, common: Readonly<Record<string, string>>) {
  const { kind, amount: _amount, ...card } = SCENARIOS[scenario];
  if (kind === 'payout') {
    const receiver = { receiver_iban: 'DE89370400440532013000', receiver_name: 'Jane Doe' };
    const fields = { method: 'init', type: 'sepa', ...common, ...receiver, transfer_description: scenario };
    return { path: '/api/mp/payout', fields };
  }
  const cardNumber = 'cardNumber' in card ? card.cardNumber : '';
  const payment = { transaction_type: 'SALE3D', ...common, redirect_url: REDIRECT_URL, card_number: cardNumber };
  return { path: '/api/pf/host-to-host', fields: { ...payment, ...CARD, ...CUSTOMER } };
}
