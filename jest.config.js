// Seven projects, chosen by the suffix of a file: unit (none: rules, no engines), mesh (`.mesh` and
// `.e2e`: real engines, started once for the run), browser (what a person sees, in Chromium), processes
// (the mesh as processes, which the tests stop and kill), documents (linters of what is published; part of
// `make check`) and long (what takes minutes each). The seventh is a folder: chart (the Helm chart and the
// compose files, with tools that need Go). The runner has a lane for each kind.
// The mesh's log below an error would bury the results.
process.env.LOG_LEVEL ??= 'error';

const shared = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/test/testkit/one-realm-environment.js',
  runtime: '<rootDir>/test/testkit/one-realm-runtime.js',
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
    '^@bmg/proto/struct$': '<rootDir>/proto/gen/google/protobuf/struct.ts',
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

/** The tiers that have a suffix; what has none is a unit test. */
const withSuffix = (...tiers) => tiers.map((tier) => `<rootDir>/**/*.${tier}.test.ts`);
const SUFFIXED = '\\.(mesh|e2e|browser|processes|documents|long)\\.test\\.ts$';
const CHART = '<rootDir>/test/helm/';
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
      testPathIgnorePatterns: [...shared.testPathIgnorePatterns, SUFFIXED, CHART],
    },
    {
      ...shared,
      ...engines,
      displayName: 'mesh',
      testMatch: withSuffix('mesh', 'e2e'),
    },
    {
      ...shared,
      ...engines,
      displayName: 'browser',
      testMatch: withSuffix('browser'),
    },
    {
      ...shared,
      ...engines,
      displayName: 'processes',
      testMatch: withSuffix('processes'),
    },
    {
      ...shared,
      displayName: 'chart',
      testMatch: [`${CHART}**/*.test.ts`],
      testPathIgnorePatterns: [...shared.testPathIgnorePatterns, SUFFIXED],
    },
    {
      ...shared,
      displayName: 'documents',
      testMatch: withSuffix('documents'),
    },
    {
      ...shared,
      ...engines,
      displayName: 'long',
      testMatch: withSuffix('long'),
    },
  ],
};
