const swc = [
  '@swc/jest',
  { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'commonjs' } },
];

/** Unit tests live beside the code; *.int.test.ts and test/ run against the real servers that global set-up provides. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/examples', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: {
    '^@gateway/(api-edge|card-processing|threeds|payout|auth-expiry|callback-dispatcher|simulator)$':
      '<rootDir>/services/$1/src/app',
    '^@gateway/([^/]+)/dist/(.+)$': '<rootDir>/services/$1/src/$2',
    '^@payment-gateway/client$': '<rootDir>/libs/merchant-client/src',
    '^@gateway/([^/]+)$': '<rootDir>/libs/$1/src',
  },
  globalSetup: '<rootDir>/libs/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/documented-answers.ts'],
  testTimeout: 60_000,
  maxWorkers: 2,
  // On a busy machine the system takes longer than jest's half second to free a worker's memory, and jest would call that a
  // leak.
  workerGracefulExitTimeout: 10_000,
  errorOnDeprecated: true,
};
