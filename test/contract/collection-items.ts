// Reads a collection of requests with the library of its format, which most programs that import
// one use.
import { Collection, Property } from 'postman-collection';

export interface CollectionVariable {
  key: string;
  value: string;
}

export interface CollectionItem {
  name: string;
  request: {
    method: string;
    url: { host: string[]; path: string[]; variable?: CollectionVariable[] };
    /** Absent if there is none. */
    header?: Array<CollectionVariable & { disabled?: boolean }>;
    body?: { raw: string };
    auth?: { type: string };
  };
}

export interface ReadCollection {
  folders: Array<{ name: string; item: CollectionItem[] }>;
  variables: CollectionVariable[];
  auth: { type: string; apikey: CollectionVariable[] };
}

export function readCollection(json: object): ReadCollection {
  const { item, variable, auth } = new Collection(json).toJSON() as {
    item: ReadCollection['folders'];
    variable: CollectionVariable[];
    auth: ReadCollection['auth'];
  };
  return { folders: item, variables: variable, auth };
}

/**
 * The text with the values of its variables; the format's own, such as `{{$guid}}`, are made up.
 */
export const filled = (text: string, values: Record<string, string>): string =>
  Property.replaceSubstitutions(text, [values]);
