/** How a program sends a request: the whole program, without anything to install. */
export interface Snippet {
  readonly language: string;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A request in six languages. Its fields are in JSON, which is also a literal of JavaScript. */
export function snippetsOf(url: string, request: Fields): readonly Snippet[] {
  const json = JSON.stringify(request, null, 2);
  return [
    { language: 'curl', text: curl(url, json) },
    { language: 'Node', text: node(url, json) },
    { language: 'Python', text: python(url, json) },
    { language: 'PHP', text: php(url, json) },
    { language: 'Java', text: java(url, json) },
    { language: 'Go', text: go(url, json) },
  ];
}

const curl = (
  url: string,
  json: string,
): string => `curl -sS '${url}' -H 'Content-Type: application/json' -d '${json.replaceAll("'", String.raw`'\''`)}'
`;

const node = (url: string, json: string): string => `const response = await fetch('${url}', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(${json}),
});
console.log(await response.json());
`;

const python = (url: string, json: string): string => `import json
import urllib.request

request = json.loads(r'''${json}''')
call = urllib.request.Request("${url}", json.dumps(request).encode(), {"Content-Type": "application/json"})
with urllib.request.urlopen(call, timeout=60) as response:
    print(json.load(response))
`;

const php = (url: string, json: string): string => `<?php
$request = <<<'JSON'
${json}
JSON;
$options = ['method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => $request, 'ignore_errors' => true];
echo file_get_contents('${url}', false, stream_context_create(['http' => $options]));
`;

const java = (url: string, json: string): string => `import java.net.URI;
import java.net.http.*;

public class Main {
  public static void main(String[] arguments) throws Exception {
    String body = """
${json.replaceAll('\\', '\\\\').replaceAll('"""', String.raw`""\"`)}
""";
    HttpRequest request = HttpRequest.newBuilder(URI.create("${url}"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  }
}
`;

const go = (url: string, json: string): string => `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := \`${json.replaceAll('`', '`+"`"+`')}\`
	response, err := http.Post("${url}", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
}
`;
