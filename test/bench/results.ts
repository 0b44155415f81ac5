// The page of results: a section for each benchmark, replaced by its latest complete run.

/** Returns the page with this benchmark's section replaced, or added in the order of `names`. */
export function withSection(
  page: string,
  names: readonly string[],
  section: { name: string; about: string; lines: readonly string[] },
): string {
  const [, ...parts] = page.split(/^## /m);
  const known = new Map(
    parts.map((part): [string, string] => [part.split('\n')[0] as string, `## ${part.trim()}`]),
  );
  const { name, about, lines } = section;
  known.set(
    name,
    `## ${name}\n\n${about}\n\n\`\`\`text\n${lines.join('\n').replace(/^ *\n/, '').trimEnd()}\n\`\`\``,
  );
  const sections = names.flatMap((one) => known.get(one) ?? []);
  return `${HEAD}\n\n${sections.join('\n\n')}\n`;
}

const HEAD = `# Results

Written by \`make bench\`, a section for each benchmark: do not edit. [What they measure, and what the
figures say](README.md).`;
