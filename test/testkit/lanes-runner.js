// Runs the projects of a run in lanes, one after the other, each with workers of its own: files
// that only compute would slow down those whose engines and browsers have time limits.
const { default: TestRunner } = require('jest-runner');

const LANES = [
  // A worker keeps the modules that its files have loaded. Here it is replaced early, as it has no
  // mesh to start.
  { projects: ['unit', 'chart', 'documents'], workers: 3, idle_memory_limit: 1000 * 1024 * 1024 },
  // Their files wait for engines longer than they compute: three of them fill two cores.
  { projects: ['mesh', 'long'], workers: 3 },
  // A browser computes more than it waits: with a third one, all of them reach their time limits.
  { projects: ['browser'], workers: 2 },
  // They share one mesh of processes.
  { projects: ['processes'], workers: 1 },
];

module.exports = class LanesRunner {
  supportsEventEmitters = true;

  constructor(globalConfig, context) {
    this.lanes = LANES.map(({ projects, workers, idle_memory_limit }) => {
      const config = {
        ...globalConfig,
        maxWorkers: workers,
        workerIdleMemoryLimit: idle_memory_limit ?? globalConfig.workerIdleMemoryLimit,
      };
      return { projects, runner: new TestRunner(config, context) };
    });
  }

  /** Jest subscribes to the events of each file; returns a function that ends the subscription. */
  on(event, listener) {
    const ends = this.lanes.map(({ runner }) => runner.on(event, listener));
    return () => ends.forEach((end) => end());
  }

  /** Resolves once all files have run. */
  async runTests(tests, watcher, options) {
    for (const { projects, runner } of this.lanes) {
      const own = tests.filter(({ context }) => projects.includes(context.config.displayName.name));
      if (own.length > 0) await runner.runTests(own, watcher, options);
    }
  }
};
