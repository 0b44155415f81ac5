// Names of files that others chose. Contract 7.4: the file name of an uploaded document comes from
// the URL path, not from a body field.

const LENGTH_MAX = 200;
const NAMELESS = 'file';
// Separators and control characters would turn a name into a path or a header; marks that change
// the writing direction make `fdp.exe` look like `exe.pdf`.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The last segment of the path, decoded; `file` if there is none. */
export function fileNameOf(url: string): string {
  const path = URL.parse(url)?.pathname ?? '';
  const decoded = decode(path.slice(path.lastIndexOf('/') + 1));
  return safeFileName(decoded) ?? NAMELESS;
}

/** Undefined if nothing is left of the name that a file could have. */
export function safeFileName(given: string): string | undefined {
  const name = shortened(given.replace(UNSAFE, '_').trim());
  return name === '' || name === '.' || name === '..' ? undefined : name;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Truncates before the extension, by whole characters, so that the type stays recognisable. */
function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= LENGTH_MAX) return name;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, LENGTH_MAX - extension.length).join('') + extension;
}
