import { translate } from './samples';

test('a request with a body in each language', () => {
  const { node, python, php, go, java } =
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
  expect(php).toBe(`<?php

$request = curl_init(getenv('BASE_URL') . '/messages/send');
curl_setopt_array($request, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_CUSTOMREQUEST => 'POST',
    CURLOPT_HTTPHEADER => [
        'x-partner-key: ' . getenv('KEY'),
        'x-waba-id: 900000000000001',
        'content-type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode([
        'to' => '15550100777',
        'text' => 'It’s "quoted"',
        'preview_url' => true,
        'context' => null,
    ]),
]);
print_r(json_decode(curl_exec($request), true));
`);
  expect(go).toBe(`package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	request, err := http.NewRequest("POST", os.Getenv("BASE_URL")+"/messages/send", strings.NewReader(\`{"to":"15550100777","text":"It’s \\"quoted\\"","preview_url":true,"context":null}\`))
	check(err)
	request.Header.Set("x-partner-key", os.Getenv("KEY"))
	request.Header.Set("x-waba-id", "900000000000001")
	request.Header.Set("content-type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	check(err)
	io.Copy(os.Stdout, answer.Body)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`);
  expect(java)
    .toContain(`        var request = HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + "/messages/send"))
            .header("x-partner-key", System.getenv("KEY"))
            .header("x-waba-id", "900000000000001")
            .header("content-type", "application/json")
            .method("POST", BodyPublishers.ofString("""
                {"to":"15550100777","text":"It’s \\\\"quoted\\\\"","preview_url":true,"context":null}"""))
            .build();
        System.out.println(client.send(request, BodyHandlers.ofString()).body());
`);
});

test('variables inside a body and a path, several commands, and their comments', () => {
  const { node, python, php, go, java } =
    translate(`curl -s "$BASE_URL/webhooks/failed" -H "x-partner-key: $KEY"   # what waits
curl -s "$BASE_URL/keys/$KEY_ID/rotate" -d '{"from":"'"$BACKUP_AT"'"}'
`) ?? {};
  expect(node).toContain('// what waits\nlet answer = await fetch(');
  expect(node).toContain('\nanswer = await fetch(`${env.BASE_URL}/keys/${env.KEY_ID}/rotate`, {');
  expect(node).toContain('JSON.stringify({ from: env.BACKUP_AT })');
  expect(python).toContain('# what waits\nrequest = ');
  expect(python).toContain("{os.environ['BASE_URL']}/keys/{os.environ['KEY_ID']}/rotate\"");
  expect(python).toContain('json.dumps({"from": os.environ["BACKUP_AT"]})');
  expect(php).toContain(
    "// what waits\n$request = curl_init(getenv('BASE_URL') . '/webhooks/failed');",
  );
  expect(php).toContain("json_encode(['from' => getenv('BACKUP_AT')])");
  expect(go).toContain('\t// what waits\n\trequest, err := http.NewRequest("GET", ');
  expect(go).toContain('\trequest, err = http.NewRequest("POST", os.Getenv("BASE_URL")+"/keys/"+');
  expect(go).toContain('`{"from":"`+os.Getenv("BACKUP_AT")+`"}`');
  expect(java).toContain('        // what waits\n        var request = ');
  expect(java).toContain('{"from":"%s"}""".formatted(System.getenv("BACKUP_AT"))');
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
