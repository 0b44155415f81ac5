/** The words of a text: long lists of names are written as one. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
