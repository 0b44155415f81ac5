// Prints at the end of a run which tests were skipped because the machine lacks a tool, and which
// tool would run them. A run of chosen tests (-t) skips the others on purpose, so it prints
// nothing.
const { relative, resolve } = require('node:path');

const ROOT = resolve(__dirname, '../..');

/** The files that skip tests, and what each needs. */
const NEEDS = {
  'test/clients/clients.long.test.ts': 'a JDK with Maven, Go, npm or Python',
  'test/clients/generators.long.test.ts': 'a JDK with Maven, Go, npm or Python',
  'test/clients/inspector.long.test.ts': 'npm',
  'test/clients/samples.long.test.ts': 'a JDK, Go or PHP with its curl',
  'test/contract/promtool.test.ts': 'promtool, on the PATH or named by PROMTOOL',
  'test/destinations/amqp.long.test.ts': 'rabbitmq-server, or Debian’s apt-get as root',
  'test/destinations/aws.long.test.ts': 'Python',
  'test/destinations/endpoints.long.test.ts': 'Debian’s apt-get as root, and Python',
  'test/e2e/attacks.processes.test.ts': 'Linux',
  'test/e2e/engines-away-disk.e2e.test.ts': 'Linux',
  'test/e2e/openapi-fuzz.long.test.ts': 'Python',
  'test/helm/chart-rules.test.ts': 'Go',
  'test/helm/chart.test.ts': 'Go',
  'test/helm/compose.test.ts': 'Go',
  'test/helm/workloads.test.ts': 'Go',
  'services/common/src/mongo/secure.long.test.ts': 'Go',
  'services/onboarding/src/billing/payments/stripe/api.mesh.test.ts': 'Go',
};

/** The lines about the skipped tests of a run. */
function skipped(testResults, root = ROOT) {
  const files = testResults
    .map(({ testFilePath, numPendingTests }) => [relative(root, testFilePath), numPendingTests])
    .filter(([, tests]) => tests > 0)
    .sort();
  const lines = files.map(
    ([file, tests]) =>
      `${String(tests).padStart(6)}  ${file}: needs ${NEEDS[file] ?? 'something unknown: add it to skipped-tests.js'}`,
  );
  return lines.length === 0 ? [] : ['\nSkipped tests:', ...lines];
}

class SkippedTests {
  constructor(globalConfig) {
    this.chosen = Boolean(globalConfig.testNamePattern);
  }

  onRunComplete(_contexts, { testResults }) {
    if (this.chosen) return;
    for (const line of skipped(testResults)) console.log(line);
  }
}

module.exports = SkippedTests;
module.exports.NEEDS = NEEDS;
module.exports.skipped = skipped;
