// Types, habits (typed lint) and words. A formatter does the style; who may import whom is in
// .dependency-cruiser.cjs.
import { readFileSync } from 'node:fs';
import tseslint from 'typescript-eslint';

/** Words that hide who does what: [word, what to write instead]. Markdown is held against them too. */
const TERMS = JSON.parse(readFileSync(new URL('./.terms.json', import.meta.url), 'utf8'));
const inText = `/\\b(${TERMS.map(([term]) => term).join('|')})\\b/i`;
const inString = {
  message: 'Name who or what is meant: .terms.json says what to write instead.',
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
      '**/*.cjs',
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
      'no-warning-comments': [
        'warn',
        { terms: [...TERMS.map(([term]) => term), 'todo', 'fixme', 'xxx'], location: 'anywhere' },
      ],
      'no-restricted-syntax': [
        'warn',
        { selector: `Literal[value=${inText}]`, ...inString },
        { selector: `TemplateElement[value.raw=${inText}]`, ...inString },
      ],
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
    // Advice: think again whether a longer function has one reason to be one function.
    files: ['**/src/**/*.ts', 'test/{harness,testkit,emulator}/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'max-lines-per-function': ['warn', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
);
