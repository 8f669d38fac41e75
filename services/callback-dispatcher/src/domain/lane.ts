/** Sorts before every lane. */
export const BEFORE_LANES = '';

/**
 * A lane is one merchant's address: the scheme, host and port that its callbacks go to. Two merchants on one host have
 * a lane each. The name begins with the merchant, so an index in lane order keeps a merchant's lanes together.
 */
export function laneOf(merchantAccount: string, origin: string): string {
  return `${merchantAccount} ${origin}`;
}

export function merchantOf(lane: string): string {
  return lane.slice(0, lane.indexOf(' '));
}

/** The host and port of a lane, whoever calls it. With a dot at its end a name is the same name. */
export function destinationOf(lane: string): string {
  const origin = lane.slice(lane.indexOf(' ') + 1);
  return origin.replace(/\.(?=$|:\d{1,5}$)/, '');
}

/** All lanes of a merchant sort behind `after` and before `end`: account names have no space and nothing below it. */
export function lanesOf(merchantAccount: string): { after: string; end: string } {
  return { after: `${merchantAccount} `, end: `${merchantAccount}!` };
}
