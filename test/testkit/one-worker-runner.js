// Runs the files of a project in one worker, whatever the number of workers of the run. Jest runs the
// projects of one runner after those of another.
const { default: TestRunner } = require('jest-runner');

module.exports = class OneWorkerRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, maxWorkers: 1 }, context);
  }
};
