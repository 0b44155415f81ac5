// The resources of the MCP server: the guides, and the index of the documentation.
import type { Documentation } from '../docs';

export interface Resource {
  [key: string]: unknown;
  uri: string;
  name: string;
  title: string;
  mimeType: string;
}

export interface Resources {
  list: readonly Resource[];
  /** Undefined if there is no such resource. */
  read(uri: string): { uri: string; mimeType: string; text: string } | undefined;
}

/** Under the addresses at which the documentation serves the same texts. */
export function createResources({ guides, llms, public_url }: Documentation): Resources {
  const texts = new Map<string, { resource: Resource; text: string }>();
  const add = (resource: Resource, text: string): void =>
    void texts.set(resource.uri, { resource, text });
  add(
    {
      uri: `${public_url}/llms.txt`,
      name: 'llms.txt',
      title: 'What the documentation has',
      mimeType: 'text/plain',
    },
    llms,
  );
  for (const { slug, title, markdown } of guides.guides) {
    const uri = `${public_url}/docs/${slug}.md`;
    add({ uri, name: slug, title, mimeType: 'text/markdown' }, markdown);
  }
  return {
    list: [...texts.values()].map(({ resource }) => resource),
    read(uri) {
      const found = texts.get(uri);
      return found && { uri, mimeType: found.resource.mimeType, text: found.text };
    },
  };
}
