import { Type } from '@sinclair/typebox';
import { mongoSchema } from '@gateway/service-kit';

/** Settings of the service that keeps the log, and of `verify`. */
export const auditSettings = {
  AUDIT_RETENTION_DAYS: Type.Integer({
    minimum: 365,
    maximum: 24_000,
    default: 1_825,
    description: 'How long entries of the audit log are kept. `npm run audit -- verify` expects the same value',
  }),
};

/** All that `npm run audit -- verify` reads. */
export const verifySettings = Type.Object({ ...mongoSchema.properties, ...auditSettings });
