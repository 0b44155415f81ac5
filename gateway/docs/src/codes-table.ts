// The error codes of an endpoint, as a table below its parameters. The renderer has no place for
// them, so the table is appended to what it draws.
export interface CodeGuide {
  http: number;
  retryable: boolean;
  meaning: string;
  action: string;
}

const MARK = 'codes';
const HEADS = ['Code', 'HTTP', 'Retry', 'What to do'];

function cellOf(...content: Array<string | Node>): HTMLTableCellElement {
  const cell = document.createElement('td');
  cell.append(...content);
  return cell;
}

function linkOf(code: string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = `errors#${code}`;
  link.textContent = code;
  return link;
}

function rowOf(code: string, guide: CodeGuide | undefined): HTMLTableRowElement {
  const row = document.createElement('tr');
  row.append(
    cellOf(linkOf(code)),
    cellOf(String(guide?.http ?? '')),
    cellOf(guide?.retryable ? 'yes' : 'no'),
    cellOf(`${guide?.meaning ?? ''} ${guide?.action ?? ''}`),
  );
  return row;
}

/** Appends the table to the details of an endpoint, unless it is there. */
export function addCodes(
  details: Element,
  codes: readonly string[],
  guide: Readonly<Record<string, CodeGuide>>,
): void {
  if (codes.length === 0 || details.querySelector(`:scope > .${MARK}`)) return;
  const box = document.createElement('section');
  box.className = MARK;
  const title = document.createElement('h4');
  title.textContent = 'Error codes';
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const text of HEADS) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = text;
    head.append(cell);
  }
  table.createTBody().append(...codes.map((code) => rowOf(code, guide[code])));
  box.append(title, table);
  details.append(box);
}
