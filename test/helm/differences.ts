// The manifests of one rendering that differ from those of another, as text for review: a line with
// kind and name, then the changed lines. Line numbers are left out, because they would change
// with every edit further up.
interface Library {
  diffLinesUnified(a: string[], b: string[], options: object): string;
}

// The library that the test runner depends on.
const { diffLinesUnified } = require('jest-diff') as Library;

const same = (line: string): string => line;
const PLAIN = {
  aColor: same,
  bColor: same,
  changeColor: same,
  commonColor: same,
  patchColor: same,
  contextLines: 1,
  expand: false,
  omitAnnotationLines: true,
};

/** The label with the name of a manifest's component. */
export const COMPONENT = 'app.kubernetes.io/component';

/**
 * The additions, changes and removals that turn `base` into `text`. One that differs from an
 * earlier one of its kind only in the name of its component is not repeated.
 */
export function differences(base: string, text: string): string {
  const [before, after] = [documents(base), documents(text)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const first = new Map<string, string>();
  const lines = names.flatMap((name) => {
    const [a, b] = [before.get(name), after.get(name)];
    if (b === undefined) return [`removed: ${name}`];
    const changes = changesOf(a, b);
    if (changes === undefined) return [];
    const title = `${a === undefined ? 'added' : 'changed'}: ${name}`;
    const component = componentOf(b);
    const [kind] = name.split(' ');
    const form =
      component &&
      [
        kind,
        a === undefined,
        changes.replaceAll(new RegExp(`\\b${component}\\b`, 'g'), '*'),
      ].join();
    const same_as = form && first.get(form);
    if (same_as) return [`${title}, as ${same_as} with its own name`];
    if (form) first.set(form, name);
    return [title, changes];
  });
  return `${lines.join('\n')}\n`;
}

function changesOf(a: string[] | undefined, b: string[]): string | undefined {
  if (a === undefined) return b.map((line) => `+ ${line}`).join('\n');
  if (a.join('\n') === b.join('\n')) return undefined;
  return diffLinesUnified(a, b, PLAIN).replace(/^@@ .* @@$/gm, '@@');
}

const componentOf = (lines: string[]): string | undefined =>
  lines.find((line) => line.includes(`${COMPONENT}: `))?.split(': ')[1];

/** Kind and name of each manifest, with its lines. */
function documents(text: string): Map<string, string[]> {
  const all = text.split(/^---\n/m).filter((one) => one.trim() !== '');
  const named = all.map((one): [string, string[]] => [titleOf(one), one.trimEnd().split('\n')]);
  const byName = new Map(named);
  if (byName.size !== named.length) throw new Error('two manifests have the same kind and name');
  return byName;
}

function titleOf(document: string): string {
  const kind = /^kind: (.+)$/m.exec(document)?.[1];
  const name = /^metadata:\n {2}name: (.+)$/m.exec(document)?.[1];
  if (kind !== undefined && name !== undefined) return `${kind} ${name}`;
  const source = /^# Source: (.+)$/m.exec(document)?.[1];
  if (/^[^#\s]/m.test(document) || source === undefined) {
    throw new Error(`not a manifest: ${document}`);
  }
  return `comment of ${source}`;
}
