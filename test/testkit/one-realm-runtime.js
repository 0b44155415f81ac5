// Jest's runtime for workers that load a package once, as Node does, and not for each file again.
const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');
const OneRealmEnvironment = require('./one-realm-environment');

/** What each file loads for itself: the project's modules, and packages that keep state. */
const OWN = /^([./]|@bmg\/|@jest\/globals$|prom-client$|@opentelemetry\/)/;

exports.__esModule = true;
exports.default = class OneRealmRuntime extends Runtime {
  requireModuleOrMock(from, name) {
    return OWN.test(name) || isBuiltin(name) || !(this._environment instanceof OneRealmEnvironment)
      ? super.requireModuleOrMock(from, name)
      : createRequire(from)(name);
  }
};
