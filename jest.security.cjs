const shared = require('./jest.config.cjs');

/** The attacks on a running gateway (docs/security.md). `npm run test:security` runs them. */
module.exports = { ...shared, testMatch: ['**/test/security/*.run.ts'] };
