// Pages of other sites, at a service that asks for no key: they can neither write to it nor read from it, whatever name
// they were made to have.
import { createServer } from "node:http";
import { launch } from "./browser.mjs";

const SECRET = "secret-of-the-open-service";

/** A page that tries all that a page can try. */
function evil(target) {
  return `<!doctype html><meta charset="utf-8"><title>evil</title><body><pre id="out"></pre><script>
const target = ${JSON.stringify(target)};
const out = {};
async function attempt(name, work) {
  try { out[name] = String(await work()).slice(0, 4000); } catch (error) { out[name] = "failed: " + error.message; }
}
(async () => {
  await attempt("read", async () => (await fetch(target + "/v1/vaults/mine/memories/m/context")).text());
  await attempt("readPage", async () => (await fetch(target + "/ui/vaults/mine/memories/m", { credentials: "include" })).text());
  await attempt("readOpaque", async () => (await fetch(target + "/v1/vaults/mine/memories/m/context", { mode: "no-cors" })).text());
  await attempt("put", async () => (await fetch(target + "/v1/vaults/mine/memories/m/context", { method: "PUT", body: "owned", headers: { "content-type": "text/plain" } })).status);
  await attempt("post", async () => (await fetch(target + "/v1/vaults/mine/memories/m/operations", { method: "POST", mode: "no-cors", body: "KEY_LEARNINGS:\\n  ADD:\\n    - because x: owned\\n" })).type);
  await attempt("form", async () => (await fetch(target + "/ui/vaults/mine/memories/m/edit", { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({ text: "owned", form_token: "" }) })).type);
  await attempt("stream", () => new Promise((resolve) => { const source = new EventSource(target + "/ui/vaults/mine/stream"); source.onopen = () => resolve("open"); source.onerror = () => resolve("refused"); setTimeout(() => resolve("nothing"), 3000); }));
  await attempt("frame", () => new Promise((resolve) => { const frame = document.createElement("iframe"); frame.src = target + "/ui/vaults/mine/memories/m"; frame.onload = () => { try { resolve(frame.contentDocument.body.textContent); } catch (error) { resolve("failed: " + error.message); } }; document.body.append(frame); setTimeout(() => resolve("nothing"), 3000); }));
  const form = document.createElement("form");
  form.method = "post"; form.action = target + "/ui/vaults/mine/memories/m/edit"; form.target = "sink";
  form.innerHTML = '<input name="text" value="owned">';
  const sink = document.createElement("iframe"); sink.name = "sink"; document.body.append(sink, form); form.submit();
  await new Promise((resolve) => setTimeout(resolve, 500));
  document.getElementById("out").textContent = JSON.stringify(out);
})();
</script>`;
}

function check(tries) {
  for (const [name, result] of Object.entries(tries)) {
    if (result.includes(SECRET)) throw new Error(`${name} reads ${result.slice(0, 200)}`);
  }
  if (tries.stream === "open") throw new Error("a stream of the service is open to another site");
  if (/^2/.test(tries.put)) throw new Error(`a put is answered ${tries.put}`);
}

export async function origins({ test, open, shot }) {
  const api = open.api();
  await api.put("mine", "m", `# ${SECRET}\n`);
  const unchanged = async () => {
    const { context, version } = await api.must("GET", "/vaults/mine/memories/m/context");
    if (context !== `# ${SECRET}\n` || version !== 1) throw new Error(`the memory is now version ${version}: ${context}`);
  };
  let target = open.address;
  const server = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(evil(target)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const browser = await launch([`--host-resolver-rules=MAP rebound.example 127.0.0.1`]);
  const attack = async (address) => {
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction(() => document.getElementById("out").textContent, null, { timeout: 30_000 });
    const tries = JSON.parse(await page.textContent("#out"));
    await page.close();
    return tries;
  };

  await test("a page of another port can neither read nor write", async () => {
    check(await attack(`http://127.0.0.1:${port}/`));
    check(await attack(`http://localhost:${port}/`));
    await unchanged();
  });

  await test("a page whose name was made to point here can neither read nor write", async () => {
    const page = await browser.newPage();
    const answer = await page.goto(`http://rebound.example:${open.port}/ui/`);
    if (answer.status() !== 403) throw new Error(`a foreign host is answered ${answer.status()}`);
    await shot(page, "foreign-host");
    // In the browser's eyes the refused page is of one origin with the service: its scripts would be let through.
    const read = await page.evaluate(async (path) => { const got = await fetch(path); return `${got.status} ${await got.text()}`; }, "/v1/vaults/mine/memories/m/context").catch((error) => `failed: ${error.message}`);
    if (read.includes(SECRET) || /^2/.test(read)) throw new Error(read);
    await page.close();
    target = `http://rebound.example:${open.port}`;
    check(await attack(`http://rebound.example:${port}/`));
    await unchanged();
  });

  await test("the own pages go on working beside them", async () => {
    const page = await browser.newPage();
    await page.goto(`${open.address}/ui/vaults/mine/memories/m/edit`);
    await page.fill("#text", "# mine\n");
    await page.click("text=Save as a new version");
    await page.waitForURL("**?done=put");
    await page.close();
  });
  await browser.close();
  server.close();
}
