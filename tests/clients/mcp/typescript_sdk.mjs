// The TypeScript SDK 1.x: typescript_sdk.mjs URL PROGRAM.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { scenario } from "./scenario.mjs";

const [url, program] = process.argv.slice(2);
const transports = {
  http: () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`)),
  stdio: () => new StdioClientTransport({ command: program, args: ["mcp", "--url", url] }),
};
// The second argument is the schema of the result.
const onProgress = (onprogress) => [undefined, { onprogress }];

for (const [name, transport] of Object.entries(transports)) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport());
  // Over stdio this SDK drops the progress that it reads together with the answer: it stops to listen before it hands on what came first.
  await scenario(client, `sdk1-${name}`, { onProgress, leastSteps: name === "stdio" ? 0 : 3 });
  await client.close();
  console.log(`   ${name}: done`);
}
