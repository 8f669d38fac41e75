import tseslint from 'typescript-eslint';

const typeAware = {
  languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
};

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
  { files: ['**/cli.ts', '**/*-cli.ts', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
  // jest's asymmetric matchers (`expect.any`, …) are typed `any`.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
);
