// Seven projects: unit (rules, no engines), mesh (real engines, started once for the run), browser (what a
// person sees, in Chromium; `make test-browser`), processes (the mesh as processes, which the tests stop and
// kill; `make test-processes`), chart (the Helm chart and the compose
// files, with tools that need Go; `make helm-check`), documents (linters of what is published; `make
// check-documents`) and long (what takes minutes each; `make test-long`). The
// runner has a lane for each kind.
// The mesh's log below an error would bury the results.
process.env.LOG_LEVEL ??= 'error';

const shared = {
  rootDir: __dirname,
  testEnvironment: 'node',
  runner: '<rootDir>/test/testkit/lanes-runner.js',
  setupFilesAfterEnv: ['<rootDir>/test/testkit/time-limit.js'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  moduleNameMapper: {
    '^@bmg/common/telemetry/register$': '<rootDir>/services/common/src/telemetry/register.ts',
    '^@bmg/common/(.*)$': '<rootDir>/services/common/src/$1/index.ts',
    '^@bmg/proto/google-status$': '<rootDir>/proto/gen/google/rpc/status.ts',
    '^@bmg/proto/health$': '<rootDir>/proto/gen/grpc/health/v1/health.ts',
    '^@bmg/proto/descriptors$': '<rootDir>/proto/gen/descriptors.binpb',
    '^@bmg/proto/(.*)$': '<rootDir>/proto/gen/bmg/$1/v1/$1.ts',
    '^@bmg/gateway/(.*)$': '<rootDir>/gateway/src/$1.ts',
    '^@bmg/(onboarding|messaging|templates|broadcasts|number-admin|webhooks|fanout|destinations)/(.*)$':
      '<rootDir>/services/$1/src/$2.ts',
    '^@bmg/local$': '<rootDir>/deploy/local/src/index.ts',
  },
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
};

const DOCUMENTS = '\\.documents\\.test\\.ts$';
const LONG = '\\.long\\.test\\.ts$';
const CHART = '<rootDir>/test/helm/';
const PROCESSES =
  '/test/e2e/(demo|faults|broadcast-kills|destination-kills|endpoint-kills|shadow-kills|processes|idempotency-crash|engines-away|media-large|telemetry|attacks)\\.e2e\\.test\\.ts$';
const BROWSER =
  '/test/e2e/(console[a-z-]*|connect-page[a-z-]*|docs[a-z-]*|page-speed|walk-through)\\.e2e\\.test\\.ts$';
const engines = {
  globalSetup: '<rootDir>/test/harness/global-setup.ts',
  globalTeardown: '<rootDir>/test/harness/global-teardown.ts',
};

/** @type {import('jest').Config} */
module.exports = {
  // The lanes have numbers of their own; with one worker jest would run all files in its own process.
  maxWorkers: 2,
  // A worker keeps what each file has loaded. Above this size it is replaced between two files.
  workerIdleMemoryLimit: '1500MB',
  reporters: [
    '<rootDir>/test/testkit/slowest-files.js',
    'default',
    '<rootDir>/test/testkit/skipped-tests.js',
  ],
  testSequencer: '<rootDir>/test/testkit/sequencer.js',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/**/*.test.ts'],
      testPathIgnorePatterns: [
        ...shared.testPathIgnorePatterns,
        '\\.mesh\\.test\\.ts$',
        '\\.e2e\\.test\\.ts$',
        LONG,
        DOCUMENTS,
        CHART,
      ],
    },
    {
      ...shared,
      ...engines,
      displayName: 'mesh',
      testMatch: ['<rootDir>/**/*.mesh.test.ts', '<rootDir>/test/e2e/**/*.e2e.test.ts'],
      testPathIgnorePatterns: [...shared.testPathIgnorePatterns, PROCESSES, BROWSER],
    },
    {
      ...shared,
      ...engines,
      displayName: 'browser',
      testRegex: BROWSER,
    },
    {
      ...shared,
      ...engines,
      displayName: 'processes',
      testRegex: PROCESSES,
    },
    {
      ...shared,
      displayName: 'chart',
      testMatch: [`${CHART}**/*.test.ts`],
      testPathIgnorePatterns: [...shared.testPathIgnorePatterns, LONG],
    },
    {
      ...shared,
      displayName: 'documents',
      testRegex: DOCUMENTS,
    },
    {
      ...shared,
      ...engines,
      displayName: 'long',
      testMatch: ['<rootDir>/**/*.long.test.ts'],
    },
  ],
};
