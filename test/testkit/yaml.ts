// Parses YAML with the library that the test runner depends on.
interface Library {
  loadAll(text: string): unknown[];
}

const library = require('js-yaml') as Library;

export const loadAll = (text: string): unknown[] => library.loadAll(text);
export const load = (text: string): unknown => library.loadAll(text)[0];
