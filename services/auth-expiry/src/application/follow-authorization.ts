import type { DataOf, CardAuthorized, HoldMoved, OperationRecord } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { Ports } from './ports';

type Following = Pick<Ports, 'deadlines'>;

/** The issuer holds an amount: stores its end, once, unless the authorization has already ended. */
export async function authorizationOpened(
  { deadlines }: Following,
  data: DataOf<typeof CardAuthorized>,
): Promise<void> {
  const { reference, merchantAccount, currency, expiresAt, expiringAt } = data;
  const isTest = currency === TEST_CURRENCY;
  await deadlines.open({ reference, merchantAccount, isTest, expiresAt, dueAt: expiringAt });
}

/** The merchant learns that the hold ends soon. */
export async function endAnnounced(
  { deadlines }: Following,
  { reference, holdEndsAt }: OperationRecord,
): Promise<void> {
  if (holdEndsAt === undefined) throw new Error('broken invariant: the end of a hold was announced without its time');
  await deadlines.announced(reference, holdEndsAt);
}

/** The clock of a sandbox account was moved. */
export async function holdMoved({ deadlines }: Following, data: DataOf<typeof HoldMoved>): Promise<void> {
  const { reference, merchantAccount, currency, expiresAt, expiringAt } = data;
  const isTest = currency === TEST_CURRENCY;
  await deadlines.move({ reference, merchantAccount, isTest, expiresAt, dueAt: expiringAt });
}

/** Settled or voided, by anyone: nothing is left to expire. */
export async function authorizationEnded({ deadlines }: Following, { baseReference }: OperationRecord): Promise<void> {
  if (baseReference === undefined) throw new Error('broken invariant: the end of an unknown authorization');
  await deadlines.end(baseReference);
}
