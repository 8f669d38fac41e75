const shared = require('./jest.config.cjs');

/** Databases from a backup beside current counterparties: docs/recovery.md. `npm run test:restore` runs it. */
module.exports = { ...shared, testMatch: ['**/test/restore/*.run.ts'], maxWorkers: 1 };
