// Highlights code. Loaded only by pages that have some.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** The grammars, keyed by the names of the guides' fences. */
const GRAMMARS = { sh: bash, js: javascript, html: xml, go, http, java, json, php, python, yaml };
for (const [name, grammar] of Object.entries(GRAMMARS)) hljs.registerLanguage(name, grammar);

/** Writes a code into the element, with a span around each part that has a colour. */
export function highlight(element: Element, code: string, language: string): void {
  if (hljs.getLanguage(language)) element.innerHTML = hljs.highlight(code, { language }).value;
  else element.textContent = code;
}
