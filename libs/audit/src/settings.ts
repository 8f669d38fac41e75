import { Type } from '@sinclair/typebox';
import type { Retention } from '@gateway/service-kit';
import { mongoSchema, ownKeyText, whenUnset } from '@gateway/service-kit';

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

/** Base64 of 32 bytes. */
const ANCHOR_KEY = '[A-Za-z0-9+/]{43}=';

/** What `verify` reads besides. Whoever verifies needs no secret. */
export const anchorSettings = {
  AUDIT_ANCHOR_PUBLIC_KEY: Type.Optional(
    ownKeyText({
      pattern: `^${ANCHOR_KEY}(,${ANCHOR_KEY}){0,15}$`,
      description:
        'Public keys of the signatures on anchors of the audit log, comma-separated: what `npm run vault -- anchor-key` prints',
    }),
  ),
};

/** All that `npm run audit -- check` reads, and `verify` with {@link anchorSettings}. */
export const verifySettings = Type.Object({ ...mongoSchema.properties, ...auditSettings });
