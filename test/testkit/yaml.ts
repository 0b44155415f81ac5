// Parses and writes YAML with the library that the test runner depends on.
interface Library {
  loadAll(text: string): unknown[];
  dump(value: unknown, options: { lineWidth: number }): string;
}

const library = require('js-yaml') as Library;

export const loadAll = (text: string): unknown[] => library.loadAll(text);
export const load = (text: string): unknown => library.loadAll(text)[0];
export const dump = (value: unknown): string => library.dump(value, { lineWidth: -1 });
