const shared = require('./jest.config.cjs');

/** Programs that merchants copy or generate, in their languages, and a schema registry. `npm run test:clients` runs them. */
module.exports = { ...shared, testMatch: ['**/test/clients/*.run.ts'], maxWorkers: 1 };
