import type { ResponseCodeName } from '@gateway/contracts';

const RESERVED = 'in the registry of this family of gateways; nothing here decides so';

/**
 * Documented codes that `gateway.test.ts` does not reach, and why. A path names the test that does reach it, because it
 * needs time to pass, a person in a browser, or a fault.
 */
export const UNREACHED: Partial<Record<ResponseCodeName, string>> = {
  INTERNAL_ERROR: 'services/api-edge/test/merchant-api.test.ts',
  DATABASE_ERROR: RESERVED,
  SERVICE_ERROR: RESERVED,
  ACCESS_DENIED: RESERVED,
  SSL_ERROR: RESERVED,
  COMMUNICATION_ERROR: RESERVED,
  ACCOUNT_ERROR: RESERVED,
  COUNTRY_NOT_AVAILABLE: RESERVED,
  GATE_NOT_ACTIVE: RESERVED,
  ENTITY_EXISTS: RESERVED,
  ENTITY_NOT_FOUND: RESERVED,
  WRONG_API_CREDENTIALS: RESERVED,
  PROCESSING_ERROR: 'test/poison.test.ts',
  CHARGED_BACK: RESERVED,
  INTERVAL_EXCEEDED: 'test/expiry.test.ts',
  MID_WITHOUT_CARD_TYPE: RESERVED,
  ACCOUNT_WITHOUT_3DS: RESERVED,
  ACCOUNT_REQUIRES_3DS: RESERVED,
  MID_WITHOUT_CURRENCY: RESERVED,
  MID_CREDENTIALS_INCORRECT: RESERVED,
  BANK_REFUSED_CONNECTION: RESERVED,
  REQUEST_NOT_VALIDATED: RESERVED,
  CHARGEBACK_INVALID: RESERVED,
  BLOCKED_BY_ROUTING: RESERVED,
  CANCELLED_BY_CARDHOLDER: 'test/threeds.test.ts',
  TRANSACTION_EXPIRED: 'services/threeds/test/threeds.test.ts',
  TRANSACTION_COMPLETED: 'test/threeds.test.ts',
  QUERY_ERROR: RESERVED,
  QUERY_VERSION_UNSUPPORTED: RESERVED,
};
