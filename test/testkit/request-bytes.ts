/** A POST as it goes over the wire, head and body. */
export const requestBytes = (
  { hostname, port }: URL,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer,
): Buffer => {
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines}\r\n`, 'latin1'),
    Buffer.from(body),
  ]);
};
