#!/usr/bin/env node
// Starts the compiled command line (`make build` compiles it), under the project's own Node if
// this one is too old. Images, which lack deploy/node, have a newer Node.
if (Number(process.versions.node.split('.')[0]) >= 22) require('../dist/main.js');
else require('../../node/path.js').runAgain();
