import { Type } from '@sinclair/typebox';

/** Settings of whoever records actions; services spread them into their own. */
export const auditSettings = {
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 365,
    maximum: 24_000,
    default: 1_825,
    description: 'How long entries of the audit log are kept; the same everywhere',
  }),
};
