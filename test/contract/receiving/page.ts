// Reads the programs and tables of the page on receiving events.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const PAGE = resolve(__dirname, '../../../gateway/docs/guides/receiving.md');

export const readPage = (): string => readFileSync(PAGE, 'utf8');

/** Returns the blocks of a language. */
export const codeBlocks = (page: string, language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code]) => code as string);

/** Returns the only program of a language whose first line names the file. */
export function codeBlock(page: string, language: string, file: string): string {
  const blocks = codeBlocks(page, language).filter((code) =>
    code.split('\n')[0]?.includes(` ${file}: `),
  );
  const [first, second] = blocks;
  if (first === undefined || second !== undefined) {
    throw new Error(`the page has ${blocks.length} programs ${file}, not one`);
  }
  return first;
}

/** Returns the other cells of the table row that begins with this cell. */
export function tableRow(page: string, first: string): string[] {
  const line = page.split('\n').find((one) => one.startsWith(`| ${first} |`));
  if (line === undefined) throw new Error(`the page has no row ${first}`);
  const cells = line.split('|').map((cell) => cell.trim());
  return cells.slice(2, -1);
}

/** Returns the texts in backquotes of a cell. */
export const quoted = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text as string);
