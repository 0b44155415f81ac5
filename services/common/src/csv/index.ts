// Cells and lines of CSV (RFC 4180) that a spreadsheet can open safely. Pure.
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

type Cell = string | number | boolean | null;

const DECIMAL = /^-?\d+(\.\d+)?$/;

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: Cell): string {
  if (value === null) return '';
  const text = String(value);
  // Spreadsheets run a text that starts like a formula.
  const safe = /^[=+\-@\t\r]/.test(text) && !DECIMAL.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
