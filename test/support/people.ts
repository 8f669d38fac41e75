import type { Storage } from './storage';
import type { Body } from './system';

/** A cardholder and a receiver whose names occur only here. */
export const HOLDER = {
  card_holder: 'ZEPHYRINE QUASTENBURG',
  first_name: 'Zephyrine',
  last_name: 'Quastenburg',
  address: '7 Seedling Row',
  city: 'Quastheim',
  user_phone: '+4915511223344',
  user_email: 'zephyrine@quastenburg.example',
  user_ip: '198.51.100.77',
} as const satisfies Body;

export const RECEIVER = {
  receiver_name: 'Ottokar Xylanderson',
  receiver_iban: 'NL91ABNA0417164300',
  receiver_city: 'Xylanderstadt',
  receiver_country: 'NLD',
  transfer_description: 'Rent of Ottokar Xylanderson',
} as const satisfies Body;

/** What must not be left of them. */
const TRACES = [
  ...['zephyrine', 'quastenburg', 'seedling', 'quastheim', '15511223344', '198.51.100.77'],
  ...['ottokar', 'xylander', 'abna0417164300'],
];

/** `database.collection: trace` for each trace of them that any database holds. */
export async function tracesIn(storage: Storage): Promise<string[]> {
  const found: string[] = [];
  for (const [name, documents] of await storage.everything()) {
    const text = JSON.stringify(documents).toLowerCase();
    found.push(...TRACES.filter((trace) => text.includes(trace)).map((trace) => `${name}: ${trace}`));
  }
  return found;
}
