// Writes /llms.txt: the contents of the documentation, for programs that read Markdown.
import type { Guide } from './guides';
import type { OpenApiDocument } from '../openapi';

export function llmsText(
  document: OpenApiDocument,
  { guides, public_url: root }: { guides: readonly Guide[]; public_url: string },
): string {
  const { title, description } = document.info;
  const [first = '', ...others] = description.split('\n\n');
  return [
    `# ${title}`,
    `> ${first}`,
    ...others,
    '## Guides',
    guides.map((guide) => `- [${guide.title}](${root}/docs/${guide.slug}.md)`).join('\n'),
    '## Reference',
    [
      `- [OpenAPI 3.1 document](${root}/openapi.json): every endpoint, event and error code`,
      `- [AsyncAPI 3 document](${root}/asyncapi.json): every event, with its headers`,
      `- [Collection for Postman, Bruno and others](${root}/collection.json), and [its environment for a local mesh](${root}/environment.json)`,
      `- [Changelog](${root}/changelog)`,
    ].join('\n'),
    '## Tools',
    `- [MCP server](${root}/mcp): sends, checks and diagnoses messages with your partner key; see [Agents](${root}/docs/agents.md)`,
  ].join('\n\n');
}
