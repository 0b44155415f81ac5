// Jest's environment for tests that run in the realm of their worker. Jest's own gives each file a
// realm, in which everything is loaded again, and which stays in memory after the file.
const { readFileSync } = require('node:fs');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');
const { ModuleMocker } = require('jest-mock');
const { Agent, setGlobalDispatcher } = require('undici');

/** Marks a file that stops the clock: timers that earlier files left would count as its own. */
const STOPS_CLOCK = /useFakeTimers/;

/** Stands for the worker's own realm where jest needs the context of a file. */
const OWN_REALM = vm.createContext({});
const { compileFunction } = vm;
vm.compileFunction = (code, params, { parsingContext, ...options } = {}) =>
  compileFunction(
    code,
    params,
    parsingContext === OWN_REALM ? options : { ...options, parsingContext },
  );

/** The objects of the realm that tests change. */
const SHARED = [globalThis, performance];

/** The own properties of an object, by name. */
const propertiesOf = (one) =>
  new Map(Reflect.ownKeys(one).map((key) => [key, Object.getOwnPropertyDescriptor(one, key)]));

/** Gives an object the properties that it had. */
function restore(one, before) {
  for (const key of Reflect.ownKeys(one)) if (!before.has(key)) Reflect.deleteProperty(one, key);
  const after = propertiesOf(one);
  for (const [key, given] of before) {
    const { value, get } = after.get(key) ?? {};
    if (value !== given.value || get !== given.get) Object.defineProperty(one, key, given);
  }
}

module.exports = class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;

  constructor(config, context) {
    if (STOPS_CLOCK.test(readFileSync(context.testPath, 'utf8')))
      return new TestEnvironment(config, context);
    this.before = SHARED.map(propertiesOf);
    this.process = { exit: process.exit, env: process.env };
    this.env = { ...process.env };
    // Otherwise Node's own fetch sets one that does not send the forms of the package.
    this.agent = new Agent();
    setGlobalDispatcher(this.agent);
  }

  async setup() {}

  /** Takes back what the file has changed in the realm. */
  async teardown() {
    this.moduleMocker.restoreAllMocks();
    await this.agent.destroy();
    SHARED.forEach((one, index) => restore(one, this.before[index]));
    Object.assign(process, this.process);
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return OWN_REALM;
  }
};
