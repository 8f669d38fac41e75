import type { CardRealm, Secret } from '@gateway/contracts';
import type { CardData } from './card-data';
import type { CardWriter } from './card-writer';

const PLENTY = { perBin: 1_000_000, inAll: 1_000_000 };

/** Stores a card that no limit refuses. */
export async function tokenOf(
  vault: Pick<CardWriter, 'putCard'>,
  merchantAccount: string,
  card: Secret<CardData>,
  realm: CardRealm = 'real',
): Promise<string> {
  const put = await vault.putCard({ merchantAccount, realm }, card, PLENTY);
  if ('overLimit' in put) throw new Error(`refused by ${put.overLimit.limit}`);
  return put.token;
}
