// Renders an operation as a curl command.
import { resolve } from './fields';
import type { Json, OpenApiDocument, OperationObject, Parameter } from './types';

/** Headers that most calls need; the others are for special cases. */
const SHOWN_HEADERS = ['x-waba-id'];

export function curlOf(
  document: OpenApiDocument,
  { verb, path, operation }: { verb: string; path: string; operation: OperationObject },
): string {
  const parameters = parametersOf(document, operation);
  const example = (name: string): string =>
    String(
      (parameters.find((one) => one.name === name)?.schema['examples'] as unknown[])?.[0] ?? name,
    );
  const url =
    (document.servers[0]?.url ?? '') +
    path.replace(/\{(\w+)\}/g, (_braces, name: string) => example(name));
  const body = operation.requestBody?.content['application/json']?.example;
  const isFile =
    operation.responses[200] && !('$ref' in operation.responses[200])
      ? '*/*' in operation.responses[200].content
      : false;
  return [
    `curl ${verb === 'get' ? '' : `-X ${verb.toUpperCase()} `}${quoted(url)}`,
    ...(operation.security?.length === 0 ? [] : [`-H 'x-partner-key: <PARTNER_KEY>'`]),
    ...parameters
      .filter((one) => one.in === 'header' && one.required && SHOWN_HEADERS.includes(one.name))
      .map(({ name }) => `-H '${name}: ${example(name)}'`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
    ...(isFile ? ['-o file'] : []),
  ].join(' \\\n  ');
}

export const parametersOf = (
  document: OpenApiDocument,
  { parameters }: OperationObject,
): Parameter[] =>
  parameters.map((one) => resolve(document, one as unknown as Json) as unknown as Parameter);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
