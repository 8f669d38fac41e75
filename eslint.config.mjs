import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const typeAware = {
  languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
};

/** A number that is a registered response code. Write other numbers with an underscore: 3_000. */
const REGISTERED = '/^(100[1-7]|20(0\\d|1[0-3])|30[0-2]\\d|3[123]\\d\\d|500[0-2])$/';
const bareCode = (selector) => ({ selector, message: 'Name the response code: RESPONSE_CODES.…' });
const namedCodes = [
  bareCode(`Literal[raw=${REGISTERED}]`),
  bareCode('Property[key.name="code"] > Literal.value[raw=/^\\d+$/]'),
  bareCode('BinaryExpression[left.property.name="code"] > Literal.right[raw=/^\\d+$/]'),
];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '.gateway/**', 'coverage/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    ...typeAware,
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/require-await': 'off',
      // Interfaces here are made by factories: their methods are closures that use no `this`.
      '@typescript-eslint/unbound-method': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'max-depth': ['error', 4],
      complexity: ['error', 20],
    },
  },
  {
    files: ['{services,libs,scripts,deploy}/**/*.{ts,mjs}'],
    plugins: { regexp },
    // What a text costs grows with its length alone (docs/adr/0072).
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['services/*/src/**/*.ts', 'libs/*/src/**/*.ts', 'deploy/*/src/**/*.ts'],
    ignores: [
      '**/*.test.ts',
      '**/*.fixture.ts',
      'libs/contracts/src/response-codes.ts',
      'libs/merchant-client/src/codes.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...namedCodes] },
  },
  { files: ['**/cli.ts', '**/*-cli.ts', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
  // jest's asymmetric matchers (`expect.any`, …) are typed `any`.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
);
