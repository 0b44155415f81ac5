// The language of samples that the reader chose last, on all pages.
const KEY = 'docs-language';

/** The name of its tab; null if the reader has chosen none, or the browser keeps nothing. */
export function chosenLanguage(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function rememberLanguage(title: string): void {
  try {
    localStorage.setItem(KEY, title);
  } catch {
    // A browser that keeps nothing shows the first language.
  }
}
