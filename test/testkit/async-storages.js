// Node 20 keeps every AsyncLocalStorage that was used, and updates all of them for each promise. A worker runs
// many files, each with storages of its own: those of the file before are disabled. Node 24 keeps none.
const { AsyncLocalStorage } = require('node:async_hooks');

const ENABLED = Symbol.for('bmg.enabled-storages');
const { prototype } = AsyncLocalStorage;
const enable = prototype._enable;

if (prototype[ENABLED]) {
  for (const storage of prototype[ENABLED]) storage.disable();
  prototype[ENABLED].clear();
} else if (enable) {
  const enabled = new Set();
  prototype[ENABLED] = enabled;
  prototype._enable = function enableAndKeep() {
    enabled.add(this);
    enable.call(this);
  };
}
