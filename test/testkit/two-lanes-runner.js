// Runs the files of the project `processes`, which share one mesh of processes, one after the other in a
// worker of their own, beside the workers of the other projects: both wait more than they compute.
const { default: TestRunner } = require('jest-runner');

const ALONE = 'processes';
const isAlone = ({ context }) => context.config.displayName?.name === ALONE;

module.exports = class TwoLanesRunner extends TestRunner {
  #alone;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#alone = new TestRunner({ ...globalConfig, maxWorkers: 1 }, context);
  }

  on(event, listener) {
    const stops = [super.on(event, listener), this.#alone.on(event, listener)];
    return () => stops.forEach((stop) => stop());
  }

  async runTests(tests, watcher, options) {
    if (options.serial) return super.runTests(tests, watcher, options);
    const others = tests.filter((test) => !isAlone(test));
    const alone = tests.filter(isAlone);
    await Promise.all([
      others.length > 0 && super.runTests(others, watcher, options),
      alone.length > 0 && this.#alone.runTests(alone, watcher, options),
    ]);
  }
};
