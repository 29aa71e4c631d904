/** Checks and runs every block of README.md against the packed package, as in a project that uses it. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { after, before, test } from "node:test";
import { expect } from "expect";
import { sharedUrl } from "./service.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
  language,
  code: code ?? "",
}));
const programs = blocks.filter(({ language }) => language === "ts").map(({ code }) => code);

/** What such a project has installed beside the package. */
const INSTALLED = ["@anthropic-ai/sdk", "@ai-sdk/anthropic", "ai", "@types/node"];

let folder: string;
let model: Server;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "working-memory-readme-"));
  const modules = join(folder, "node_modules");
  const own = join(modules, "working-memory-client");
  mkdirSync(own, { recursive: true });
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
  await run("tar", ["-xzf", join(folder, stdout.trim().split("\n").at(-1) ?? ""), "-C", own, "--strip-components=1"]);
  for (const name of INSTALLED) {
    mkdirSync(join(modules, name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = {
    target: "ES2022",
    module: "NodeNext",
    strict: true,
    skipLibCheck: true,
    types: ["node"],
    outDir: "out",
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  programs.forEach((code, number) => writeFileSync(join(folder, `block-${number}.ts`), code));
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: folder }).catch(({ stdout }) =>
    expect(stdout).toBe(""),
  );
  model = await claude();
});

after(() => {
  model.closeAllConnections();
  model.close();
  rmSync(folder, { recursive: true });
});

/** A stub of Anthropic's API: it calls a tool of the request once and then ends. */
function claude(): Promise<Server> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const { tools } = JSON.parse(text) as { tools?: { name: string }[] };
      const isTool = tools?.[0]?.name === "memory";
      const input = isTool
        ? { command: "create", path: "/memories/tea.md", file_text: "Drinks tea.\n" }
        : { intent: "Test", summary: "Two tests fail." };
      const name = isTool ? "memory" : "memory_record";
      const isFirst = !text.includes('"tool_result"');
      const content = isFirst ? [{ type: "tool_use", id: "toolu_1", name, input }] : [{ type: "text", text: "Noted." }];
      const stop_reason = isFirst ? "tool_use" : "end_turn";
      const usage = { input_tokens: 1, output_tokens: 1 };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id: "msg",
          type: "message",
          role: "assistant",
          model: "m",
          content,
          stop_reason,
          stop_sequence: null,
          usage,
        }),
      );
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

test("the README has blocks of shell, which tests/clients/typescript_client.sh runs, and programs", () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["sh", "ts"]));
  expect(programs.length).toBeGreaterThanOrEqual(5);
});

test("the package holds what it exports and nothing of its tests", () => {
  const own = join(folder, "node_modules/working-memory-client");
  for (const file of ["dist/index.js", "dist/index.d.ts", "dist/anthropic.js", "dist/ai.js", "README.md", "LICENSE-MIT", "LICENSE-APACHE"])
    expect(existsSync(join(own, file))).toBe(true);
  for (const file of ["test", "src", "node_modules"]) expect(existsSync(join(own, file))).toBe(false);
});

test("the programs do what they say, one after the other", async () => {
  const base = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
  const outputs: string[] = [];
  for (const [number, code] of programs.entries()) {
    const baseUrl = code.includes("@ai-sdk/anthropic") ? `${base}/v1` : base;
    const env = {
      ...process.env,
      WORKING_MEMORY_URL: sharedUrl(),
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: baseUrl,
    };
    const { stdout } = await run(process.execPath, [join(folder, `out/block-${number}.js`)], { env, timeout: 120_000 });
    outputs.push(stdout);
  }
  const [session, byHand, events, tool] = outputs;
  expect(session).toContain("Rotate the deploy key");
  expect(byHand).toContain("there is none yet\ntrue a precondition");
  expect(byHand).toContain("KL-1 commit the query data");
  expect(events).toContain("kind: 'version'");
  expect(tool).toContain("Noted.");
});
