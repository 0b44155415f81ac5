// YAML, read by the library that comes with the test runner.
interface Library {
  loadAll(text: string): unknown[];
}

const library = require('js-yaml') as Library;

export const loadAll = (text: string): unknown[] => library.loadAll(text);
export const load = (text: string): unknown => library.loadAll(text)[0];
