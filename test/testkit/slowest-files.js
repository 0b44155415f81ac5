// Prints the ten slowest test files before jest's own summary, so that a run that grows shows
// where.
const { relative } = require('node:path');

const SHOWN = 10;

module.exports = class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= SHOWN) return;
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({ testFilePath, ms: perfStats.end - perfStats.start }))
      .sort((one, other) => other.ms - one.ms)
      .slice(0, SHOWN);
    console.log('\nThe slowest files:');
    for (const { testFilePath, ms } of slowest) {
      const seconds = (ms / 1_000).toFixed(1).padStart(6);
      console.log(`${seconds} s  ${relative(process.cwd(), testFilePath)}`);
    }
  }
};
