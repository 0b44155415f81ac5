// The order of the files of a runner: those of the whole mesh before those of one service, the
// longest at the very start so that no worker is left with a long one at the end.
const Sequencer = require('@jest/test-sequencer').default;

/**
 * Longest first. The slow clients' test does not run beside the upstream's failures, whose
 * time-outs are short.
 */
const LONG = [
  'e2e/console.browser',
  'contract/guides',
  'e2e/upstream-failures',
  'runner/crash',
  'e2e/mtls',
  'e2e/slow-clients',
];
const rank = ({ path }) => {
  const long = LONG.findIndex((name) => path.includes(name));
  if (long >= 0) return long;
  return path.includes('/test/e2e/') ? LONG.length : LONG.length + 1;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
