import { Type } from '@sinclair/typebox';
import type { Retention } from '@gateway/service-kit';
import { mongoSchema, whenUnset } from '@gateway/service-kit';

/** Of entries, unless AUDIT_RETENTION_DAYS says otherwise. */
export const AUDIT_RETENTION: Retention = { days: 1_825, mayShorten: false };

/** Settings of the service that keeps the log, and of `verify`. */
export const auditSettings = {
  AUDIT_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      minimum: 365,
      maximum: 24_000,
      description: `How long entries of the audit log are kept. \`npm run audit -- check\` and \`verify\` expect the same value. ${whenUnset(AUDIT_RETENTION)}`,
    }),
  ),
};

/** All that `npm run audit -- check` and `verify` read. */
export const verifySettings = Type.Object({ ...mongoSchema.properties, ...auditSettings });
