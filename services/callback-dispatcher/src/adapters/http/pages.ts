import type { DeliveryQuery, StoredDelivery } from '../../application/ports';

const PAGE = /^(\d{1,15}):(.{1,64})$/;

/** Where the page after this last delivery begins. */
export function pageAfter({ createdAt, _id }: Pick<StoredDelivery, 'createdAt' | '_id'>): string {
  return `${createdAt}:${_id}`;
}

export function parsePage(text: unknown): NonNullable<DeliveryQuery['before']> | 'wrong' {
  const [, createdAt, id] = (typeof text === 'string' ? PAGE.exec(text) : undefined) ?? [];
  return createdAt === undefined || id === undefined ? 'wrong' : { createdAt: Number(createdAt), id };
}
