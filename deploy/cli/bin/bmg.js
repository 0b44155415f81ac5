#!/usr/bin/env node
// The operator's command line; `make build` compiles what it runs.
require('../dist/main.js');
