// CSV files that a browser saves.
import Papa from 'papaparse';

const KEPT_MS = 60_000;

/** Spreadsheets run a cell that starts like a formula, so it is escaped. */
export const toCsv = (rows: Array<Array<string | number>>): string =>
  Papa.unparse(rows, { escapeFormulae: true });

export function download(name: string, content: string | Blob): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after this turn, and a busy one much later.
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
