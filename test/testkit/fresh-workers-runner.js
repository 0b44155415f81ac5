// Runs the files of a project in workers of their own, which are replaced early: what a worker has loaded makes
// each next file slower, and a new worker of unit tests has no mesh to start.
const { default: TestRunner } = require('jest-runner');

const IDLE_MEMORY_LIMIT = 500 * 1024 * 1024;

module.exports = class FreshWorkersRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, workerIdleMemoryLimit: IDLE_MEMORY_LIMIT }, context);
  }
};
