const shared = require('./jest.config.cjs');

/**
 * Programs that merchants copy or generate, in their languages, a schema registry, and the analysts' reader in Python. `npm
 * run test:clients` runs them.
 */
module.exports = { ...shared, testMatch: ['**/test/clients/*.run.ts'], maxWorkers: 1 };
