// Golden files of the chart rely on it to show every difference.
import { COMPONENT, differences } from './differences';

const manifest = (kind: string, name: string, ...spec: string[]): string =>
  ['---', `kind: ${kind}`, 'metadata:', `  name: ${name}`, ...spec, ''].join('\n');

test('names the manifests that were added, changed and removed', () => {
  const base = manifest('A', 'one', 'a: 1', 'b: 2', 'c: 3') + manifest('B', 'two');
  const text = manifest('A', 'one', 'a: 1', 'b: 3', 'c: 3') + manifest('C', 'three');
  expect(differences(base, text).split('\n')).toEqual([
    'changed: A one',
    '@@',
    '  a: 1',
    '- b: 2',
    '+ b: 3',
    '  c: 3',
    'removed: B two',
    'added: C three',
    '+ kind: C',
    '+ metadata:',
    '+   name: three',
    '',
  ]);
});

test('states a difference that another component has only once', () => {
  const certificate = (component: string, ...spec: string[]): string =>
    manifest('A', component, `  labels:\n    ${COMPONENT}: ${component}`, ...spec);
  const text =
    certificate('one', 'host: one') +
    certificate('three', 'host: one') +
    certificate('two', 'host: two');
  const lines = differences('', text).split('\n');
  expect(lines.filter((line) => /^[a-z]/.test(line))).toEqual([
    'added: A one',
    'added: A three',
    'added: A two, as A one with its own name',
  ]);
  expect(lines.filter((line) => line.endsWith('host: one'))).toHaveLength(2);
  expect(lines.filter((line) => line.endsWith('host: two'))).toEqual([]);
});

test('is empty for equal renderings, whatever their order', () => {
  const [a, b] = [manifest('A', 'one'), manifest('B', 'two')];
  expect(differences(a + b, b + a)).toBe('\n');
});

test('rejects two manifests of one name', () => {
  expect(() => differences(manifest('A', 'one').repeat(2), '')).toThrow('the same kind and name');
});
