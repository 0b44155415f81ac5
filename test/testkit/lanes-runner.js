// Runs the projects of a run side by side, in lanes with separate workers: while one lane waits,
// the others use the cores.
const { default: TestRunner } = require('jest-runner');

const LANES = [
  // Their files wait for engines and browsers longer than they compute: three of them fill two
  // cores.
  { projects: ['mesh', 'browser', 'long'], workers: 3 },
  // They share one mesh of processes.
  { projects: ['processes'], workers: 1 },
  // A worker keeps the modules that its files have loaded. Here it is replaced early, as it has no
  // mesh to start.
  {
    projects: ['unit', 'chart', 'documents'],
    workers: 3,
    beside_others: 1,
    idle_memory_limit: 500 * 1024 * 1024,
  },
];

module.exports = class LanesRunner {
  supportsEventEmitters = true;

  constructor(globalConfig, context) {
    this.lanes = LANES.map(({ idle_memory_limit, ...lane }) => {
      const config = {
        ...globalConfig,
        maxWorkers: lane.workers ?? globalConfig.maxWorkers,
        workerIdleMemoryLimit: idle_memory_limit ?? globalConfig.workerIdleMemoryLimit,
      };
      return { ...lane, config, runner: new TestRunner(config, context) };
    });
  }

  /** Jest subscribes to the events of each file; returns a function that ends the subscription. */
  on(event, listener) {
    const ends = this.lanes.map(({ runner }) => runner.on(event, listener));
    return () => ends.forEach((end) => end());
  }

  /**
   * Resolves once all files have run; `options.serial` (`--runInBand`) runs one lane after the
   * other.
   */
  async runTests(tests, watcher, options) {
    const used = this.lanes
      .map((lane) => ({ ...lane, tests: tests.filter((test) => isIn(lane, test)) }))
      .filter((lane) => lane.tests.length > 0);
    if (options.serial) {
      for (const lane of used) await lane.runner.runTests(lane.tests, watcher, options);
      return;
    }
    if (used.length > 1) {
      for (const lane of used)
        lane.config.maxWorkers = lane.beside_others ?? lane.config.maxWorkers;
    }
    await Promise.all(used.map((lane) => lane.runner.runTests(lane.tests, watcher, options)));
  }
};

const isIn = ({ projects }, { context }) => projects.includes(context.config.displayName.name);
