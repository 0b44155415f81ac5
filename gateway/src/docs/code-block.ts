// The code blocks of the documentation: curl commands also in other languages. The browser's part
// (docs/src/code.ts) makes tabs of them, highlights them and adds the buttons that copy; without it
// a reader sees each block as the guide has it.
import { escape } from './html';
import { translate } from './samples';

/** The languages of the fences, as readers call them. */
const TITLES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'Node.js',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
  java: 'Java',
  html: 'HTML',
  http: 'HTTP',
  json: 'JSON',
  yaml: 'YAML',
  csv: 'CSV',
};

interface Block {
  code: string;
  language: string;
  title?: string;
  hidden?: boolean;
}

const preOf = ({ code, language, title = TITLES[language] ?? 'Text', hidden }: Block): string =>
  `<pre tabindex="0" data-title="${title}" data-language="${escape(language)}"${hidden ? ' hidden' : ''}><code>${escape(code)}</code></pre>`;

/** The markup of a fenced block. */
export function codeBlock(code: string, language: string): string {
  const translated = language === 'sh' ? translate(code) : undefined;
  const blocks: Block[] = translated
    ? [
        { code, language, title: 'curl' },
        ...Object.entries(translated).map(([name, text]) => ({
          code: text,
          language: name === 'node' ? 'js' : name,
          hidden: true,
        })),
      ]
    : [{ code, language }];
  return `<div class="code">${blocks.map(preOf).join('')}</div>\n`;
}
