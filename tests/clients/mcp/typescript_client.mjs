// The TypeScript client 2.x, with the handshake of old and without: typescript_client.mjs URL PROGRAM.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { scenario } from "./scenario.mjs";

const [url, program] = process.argv.slice(2);
const transports = {
  http: () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`)),
  stdio: () => new StdioClientTransport({ command: program, args: ["mcp", "--url", url] }),
};
const onProgress = (onprogress) => [{ onprogress }];

for (const [name, transport] of Object.entries(transports)) {
  for (const mode of ["legacy", "auto"]) {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transport());
    const vault = `client2-${name}-${mode}`;
    await scenario(client, vault, { onProgress });
    await client.close();
    console.log(`   ${name}, ${mode}: done`);
  }
}
process.exit(0);
