/** A payment that ends in a callback. Cards and amounts of the sandbox: decisions.md, section 3. */
interface Scenario {
  /** For the usage text. */
  readonly what: string;
  readonly kind: 'card' | 'payout';
  readonly amount: string;
  readonly cardNumber?: string;
}

/** Authenticated at once, without a challenge. */
const FRICTIONLESS = '4012000300001011';
const CHALLENGED = '4012000300001003';

const sale3d = (what: string, amount: string, cardNumber = FRICTIONLESS) =>
  ({ what, kind: 'card', amount, cardNumber }) as const;
const payout = (what: string, amount: string) => ({ what, kind: 'payout', amount }) as const;

export const SCENARIOS = {
  'sale3d-success': sale3d('a SALE3D that is paid', '10.00'),
  'sale3d-decline': sale3d('a SALE3D that the bank declines: insufficient funds, 3101', '31.01'),
  'sale3d-fraud': sale3d('a SALE3D that the antifraud system declines, 3200', '32.00'),
  'sale3d-error': sale3d('a SALE3D whose bank fails, 3125: the outcome is unknown for some seconds', '31.25'),
  'sale3d-challenge': sale3d(
    'a SALE3D that waits for its cardholder: open the address that it prints',
    '10.00',
    CHALLENGED,
  ),
  'payout-success': payout('a payout that is paid', '10.00'),
  'payout-decline': payout('a payout that the bank declines, 3101', '31.01'),
  'payout-fraud': payout('a payout that the antifraud system stops, 3200', '32.00'),
  'payout-error': payout('a payout that ends in an error, 3300', '33.00'),
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];
