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

/** The additions, changes and removals that turn `base` into `text`. */
export function differences(base: string, text: string): string {
  const [before, after] = [documents(base), documents(text)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const lines = names.flatMap((name) => {
    const [a, b] = [before.get(name), after.get(name)];
    if (b === undefined) return [`removed: ${name}`];
    if (a === undefined) return [`added: ${name}`, ...b.map((line) => `+ ${line}`)];
    if (a.join('\n') === b.join('\n')) return [];
    const hunks = diffLinesUnified(a, b, PLAIN).replace(/^@@ .* @@$/gm, '@@');
    return [`changed: ${name}`, hunks];
  });
  return `${lines.join('\n')}\n`;
}

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
