// Types and habits (typed lint), and who may import whom; a formatter does the style.
import tseslint from 'typescript-eslint';

/** Libraries stay in their folder: name → where it may be imported, and what to use elsewhere. */
const LIBRARIES = {
  '@grpc/grpc-js': 'use @bmg/common/rpc',
  kafkajs: 'use @bmg/common/bus',
  ioredis: 'use @bmg/common/redis',
};

const SERVICES = [
  'onboarding',
  'messaging',
  'templates',
  'broadcasts',
  'number-admin',
  'webhooks',
  'fanout',
];

const restrict = (patterns, paths = []) => ({
  'no-restricted-imports': ['error', { patterns, paths }],
});

const libraries = (...allowed) =>
  Object.entries(LIBRARIES)
    .filter(([name]) => !allowed.includes(name))
    .map(([name, message]) => ({ name, message, allowTypeImports: true }));

const noService = {
  group: [...SERVICES.map((name) => `@bmg/${name}`), '@bmg/gateway', '**/services/*/src/**'],
  message: 'services and the gateway do not import each other: speak gRPC or Kafka',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'proto/gen/**',
      '.run/**',
      'coverage/**',
      '**/*.js',
      '**/*.mjs',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { project: ['./tsconfig.lint.json'] } },
    rules: {
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'off',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false } },
      ],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  {
    files: ['services/common/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: restrict([noService]),
  },
  {
    files: ['services/*/src/**/*.ts', 'gateway/src/**/*.ts', 'deploy/cli/src/**/*.ts'],
    ignores: ['services/common/**', '**/*.test.ts', 'gateway/src/limits/**'],
    rules: restrict([noService], libraries()),
  },
  {
    files: ['gateway/src/limits/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: restrict([noService], libraries('ioredis')),
  },
);
