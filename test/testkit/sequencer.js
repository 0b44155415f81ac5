// Which file runs when: the files that wait for engines and processes, the longest at the very start so that
// no worker is left with a long one at the end, then unit tests.
const Sequencer = require('@jest/test-sequencer').default;

/** Longest first. The slow clients come much later: the time-outs of the upstream's failures are short. */
const LONG = [
  'e2e/upstream-failures',
  'e2e/console.e2e',
  'runner/crash',
  'e2e/faults',
  'e2e/console-work',
  'e2e/mtls',
];

const rank = ({ path }) => {
  const long = LONG.findIndex((name) => path.includes(name));
  if (long >= 0) return long;
  if (path.includes('/test/e2e/')) return LONG.length;
  return path.endsWith('.mesh.test.ts') ? LONG.length + 1 : LONG.length + 2;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
