// Builds the HTML of the documentation: escaping, tables and the frame of every page.

/** Escaped markup. `html` escapes every other value. */
export class Html {
  constructor(readonly markup: string) {}
}

type Part = Html | Html[] | string | number;

export const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const markupOf = (part: Part): string => {
  if (part instanceof Html) return part.markup;
  return Array.isArray(part) ? part.map(markupOf).join('') : escape(String(part));
};

/** html`<p>${text}</p>`: escapes every interpolated value that is not Html. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(
    strings
      .map((text, at) => text + (at < parts.length ? markupOf(parts[at] as Part) : ''))
      .join(''),
  );

export const none = new Html('');

/** Escapes a text and turns `code` in backquotes into <code>. */
export const prose = (text: string): Html =>
  new Html(escape(text).replace(/`([^`]+)`/g, '<code>$1</code>'));

/**
 * On a narrow screen each cell but the first is preceded by the head of its column (see shell.css).
 */
export function table(heads: string[], rows: Part[][]): Html {
  if (rows.length === 0) return none;
  const cell = (part: Part, at: number): Html =>
    at === 0 ? html`<td>${part}</td>` : html`<td data-head="${heads[at] ?? ''}">${part}</td>`;
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map(cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
