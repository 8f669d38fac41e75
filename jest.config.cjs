/** Unit tests live beside the code; *.int.test.ts and test/ run against the real servers that global set-up provides. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/libs', '<rootDir>/services'],
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'commonjs' } }],
  },
  moduleNameMapper: {
    '^@gateway/(api-edge|card-processing|simulator)$': '<rootDir>/services/$1/src/app',
    '^@gateway/([^/]+)$': '<rootDir>/libs/$1/src',
  },
  globalSetup: '<rootDir>/libs/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.ts',
  testTimeout: 60_000,
  maxWorkers: 2,
  errorOnDeprecated: true,
};
