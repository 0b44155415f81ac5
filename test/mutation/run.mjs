// Changes an operator, a constant or a branch of ten folders of rules, one at a time, and counts
// the changes that a unit test notices. Fails if the share of a folder is below that in
// baseline.json. It changes a copy of the checkout in which it is started, which may be an older
// one.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';

const here = import.meta.dirname;
const requireFrom = (folder) => createRequire(path.join(folder, 'x.js'));
// Stryker reads tsconfig.json by TypeScript 5, and its runner needs our jest beside it: both stay
// out of the lockfile.
const TOOLS = [
  '@stryker-mutator/core@9.6.1',
  '@stryker-mutator/jest-runner@9.6.1',
  `jest@${requireFrom(here)('../../package.json').devDependencies.jest}`,
  'typescript@5.9.3',
];
/** On a busy machine a change or two more end by their time limit, which counts as noticed. */
const TOLERANCE = 0.01;

/**
 * The files to change and the tests to run: all of a folder unless given. Files that only mesh
 * tests prove are left out.
 */
const SETS = {
  'common/ids': { folder: 'services/common/src/ids' },
  'common/idempotency': { folder: 'services/common/src/idempotency', files: 'outcome' },
  'common/keys': { folder: 'services/common/src/keys', files: '{addresses,peppers}' },
  'common/overload': { folder: 'services/common/src/overload' },
  'common/preflight': {
    folder: 'services/common/src/preflight',
    tests: ['services/{common,messaging}/src/preflight/*'],
  },
  'broadcasts/template': { folder: 'services/broadcasts/src/template', files: '{params,rules}' },
  'gateway/limits': { folder: 'gateway/src/limits', files: '{fair-queue,load}' },
  'messaging/pricing': {
    folder: 'services/messaging/src/pricing',
    files: '{markets,price-rules,rate-card}',
  },
  'onboarding/accounts': {
    folder: 'services/onboarding/src/accounts',
    files: '{alerts,audit,keys,people,receivers,sessions}/rules',
  },
  'webhooks/delivery': {
    folder: 'services/webhooks/src/delivery',
    files: '{receiver-speed,retry-schedule}',
    tests: ['services/webhooks/src/delivery/{receiver-speed,retry-schedule}'],
  },
};

const tools = path.join(here, '../../.run/mutation');
const baselineFile = path.join(here, 'baseline.json');

function install() {
  if (existsSync(path.join(tools, 'node_modules/@stryker-mutator/core'))) return;
  console.log('installing the mutation tool ...');
  mkdirSync(tools, { recursive: true });
  writeFileSync(path.join(tools, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--silent', ...TOOLS], {
    cwd: tools,
    stdio: 'inherit',
  });
}

/** The unit project's names, transform and files, in the environment that Stryker extends. */
function jestConfig(tests) {
  const { projects } = requireFrom(process.cwd())('./jest.config.js');
  const unit = projects.find(({ displayName }) => displayName === 'unit');
  const { transform, moduleNameMapper, setupFilesAfterEnv, testPathIgnorePatterns } = unit;
  return {
    testEnvironment: 'node',
    transform,
    moduleNameMapper,
    setupFilesAfterEnv,
    testMatch: tests.map((pattern) => `<rootDir>/${pattern}.test.ts`),
    testPathIgnorePatterns,
  };
}

/** Runs the tests of a set once for each change. Returns how many were noticed, and the others. */
async function measure(Stryker, { folder, files = '*', tests = [`${folder}/**/*`] }) {
  const results = await new Stryker({
    testRunner: 'jest',
    plugins: [path.join(tools, 'node_modules/@stryker-mutator/jest-runner/dist/src/index.js')],
    jest: { projectType: 'custom', config: jestConfig(tests), enableFindRelatedTests: false },
    mutate: [`${folder}/${files}.ts`, '!**/*.test.ts'],
    coverageAnalysis: 'perTest',
    // A constant of a module is read when the file is loaded, before the first test.
    ignoreStatic: true,
    concurrency: availableParallelism(),
    timeoutMS: 5_000,
    timeoutFactor: 2,
    reporters: [],
    tempDirName: path.join(tmpdir(), 'bmg-mutation'),
    // The jest that Stryker starts prefers a jest.config.js to the configuration above.
    ignorePatterns: [
      '/.git',
      '/.node',
      '/.run',
      '/jest.config.js',
      '/deploy/**/dist',
      '/helm',
      '/test/dist',
      '/gateway/console',
    ],
    disableTypeChecks: false,
    logLevel: 'error',
  }).runMutationTest();
  const having = (...statuses) => results.filter(({ status }) => statuses.includes(status));
  const noticed = having('Killed', 'Timeout').length;
  const unnoticed = having('Survived', 'NoCoverage');
  return { noticed, of: noticed + unnoticed.length, unnoticed };
}

/** One change, as a line of the output. */
const lineOf = ({ fileName, location, replacement, status }) =>
  `  ${path.relative('', fileName)}:${location.start.line} ${status === 'Survived' ? '' : '(no test) '}${replacement.replace(/\s+/g, ' ').slice(0, 80)}`;

const share = ({ noticed, of }) => noticed / of;
const inWords = (result) =>
  result ? `${(share(result) * 100).toFixed(1)} % of ${result.of}` : 'unknown';

const names = process.env.ONLY ? process.env.ONLY.split(',') : Object.keys(SETS);
const unknown = names.filter((name) => !SETS[name]);
if (unknown.length > 0) {
  console.error(`ONLY: ${unknown} is not one of ${Object.keys(SETS).join(', ')}`);
  process.exit(2);
}

install();
const { Stryker } = requireFrom(tools)('@stryker-mutator/core');
const baseline = JSON.parse(readFileSync(baselineFile, 'utf8'));
for (const name of names) {
  const { unnoticed, ...result } = await measure(Stryker, SETS[name]);
  const before = baseline[name];
  const fell = before && share(result) < share(before) - TOLERANCE;
  if (fell) process.exitCode = 1;
  console.log(`${name}: ${inWords(result)}, baseline ${inWords(before)}${fell ? ': too few' : ''}`);
  if (fell || process.env.LIST) console.log(unnoticed.map(lineOf).join('\n'));
  if (!process.env.WRITE) continue;
  baseline[name] = result;
  writeFileSync(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
}
