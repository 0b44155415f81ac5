#!/usr/bin/env node
// Starts the compiled command line (`make build` compiles it).
require('../dist/main.js');
