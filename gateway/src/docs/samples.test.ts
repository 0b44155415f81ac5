import { translate } from './samples';

test('a request with a body in three languages', () => {
  const { node, python } =
    translate(`curl -s "$BASE_URL/messages/send" -H "x-partner-key: $KEY" -H 'x-waba-id: 900000000000001' \\
  -H 'content-type: application/json' \\
  -d '{"to":"15550100777","text":"It’s \\"quoted\\"","preview_url":true,"context":null}'
`) ?? {};
  expect(node).toBe(`import { env } from 'node:process';

const answer = await fetch(\`\${env.BASE_URL}/messages/send\`, {
  method: 'POST',
  headers: {
    'x-partner-key': env.KEY,
    'x-waba-id': '900000000000001',
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    to: '15550100777',
    text: 'It’s "quoted"',
    preview_url: true,
    context: null,
  }),
});
console.log(await answer.json());
`);
  expect(python).toBe(`import json
import os
import urllib.request

request = urllib.request.Request(
    f"{os.environ['BASE_URL']}/messages/send",
    method="POST",
    headers={
        "x-partner-key": os.environ["KEY"],
        "x-waba-id": "900000000000001",
        "content-type": "application/json",
    },
    data=json.dumps({
        "to": "15550100777",
        "text": "It’s \\"quoted\\"",
        "preview_url": True,
        "context": None,
    }).encode(),
)
print(json.load(urllib.request.urlopen(request)))
`);
});

test('variables inside a body and a path, several commands, and their comments', () => {
  const { node, python } =
    translate(`curl -s "$BASE_URL/webhooks/failed" -H "x-partner-key: $KEY"   # what waits
curl -s "$BASE_URL/keys/$KEY_ID/rotate" -d '{"from":"'"$BACKUP_AT"'"}'
`) ?? {};
  expect(node).toContain('// what waits\nlet answer = await fetch(');
  expect(node).toContain('\nanswer = await fetch(`${env.BASE_URL}/keys/${env.KEY_ID}/rotate`, {');
  expect(node).toContain('JSON.stringify({ from: env.BACKUP_AT })');
  expect(python).toContain('# what waits\nrequest = ');
  expect(python).toContain("{os.environ['BASE_URL']}/keys/{os.environ['KEY_ID']}/rotate\"");
  expect(python).toContain('json.dumps({"from": os.environ["BACKUP_AT"]})');
});

test('a query that curl encodes is encoded in the address', () => {
  const { node } =
    translate(`curl -s -G "$BASE_URL/audit" --data-urlencode 'action=a b&c'\n`) ?? {};
  expect(node).toContain('/audit?action=a+b%26c`');
});

test('line ends in a body stay escaped', () => {
  const { node, python } = translate(`curl -s "$BASE_URL/calls" -d '{"sdp":"v=0\\r\\n"}'\n`) ?? {};
  expect(node).toContain(String.raw`sdp: 'v=0\r\n'`);
  expect(python).toContain(String.raw`"sdp": "v=0\r\n"`);
});

test.each([
  ['a pipe', 'curl -s "$BASE_URL/health" | grep ok'],
  ['a file', 'curl -s "$BASE_URL/audit" > audit.csv'],
  ['a loop', 'for one in 1 2; do\n  curl -s "$BASE_URL/health"\ndone'],
  ['a setting', 'export KEY=1\ncurl -s "$BASE_URL/health"'],
  ['an expansion', 'curl -s "${BASE_URL%/v1}/mcp"'],
  ['another program', 'npx bmg doctor'],
  ['an option of curl that no request has', 'curl -s -D - "$BASE_URL/health"'],
  ['a quote that does not end', "curl -s 'x"],
  ['nothing', '# only a comment\n'],
])('a sample with %s is shown as it is', (_what, script) => {
  expect(translate(script)).toBeUndefined();
});
