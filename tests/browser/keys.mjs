// A service with keys: the first one, signing in and out, roles, sessions that end, and another tenant's strings.
import { accessible, launch, noFaults, watched } from "./browser.mjs";
import { seedStory } from "./seed.mjs";

const CANARY = "canary-of-another-tenant";

export async function keys({ test, keyed, shot }) {
  const { address } = keyed;
  const browser = await launch();
  let admin;
  let reader;
  let writer;
  await seedStory(keyed.api());
  await keyed.api().put(`other-${CANARY}`, `memory-${CANARY}`, `# ${CANARY}\n- text ${CANARY}\n`);

  async function signIn(page, key) {
    await page.goto(`${address}/ui/sign-in`);
    await page.fill("#key", key);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/ui/");
  }

  await test("the first key is made on a page, and from then on everybody signs in", async () => {
    const page = await watched(browser, address);
    await page.goto(`${address}/ui/keys`);
    await page.fill("#name", "root");
    await page.selectOption("#role", "admin");
    await page.click("text=Create the key >> nth=-1");
    admin = await page.textContent("#secret code");
    if (!/^wm_/.test(admin)) throw new Error("the key is not shown");
    await accessible(page, "new key");
    await page.goto(`${address}/ui/vaults/acme?sort=bytes`);
    await page.waitForURL("**/ui/sign-in?next=*");
    await accessible(page, "sign-in");
    await shot(page, "sign-in");
    if (!(await page.textContent("main")).includes("working-memory keys create")) throw new Error("nothing says where a key comes from");
    await page.fill("#key", "wm_none_" + "0".repeat(64));
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=The key is not valid");
    await page.fill("#key", admin);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/ui/vaults/acme?sort=bytes");
    const [cookie] = await browser.cookies();
    if (!cookie.httpOnly || cookie.sameSite !== "Strict" || cookie.path !== "/ui") throw new Error(JSON.stringify(cookie));
    const seen = await page.evaluate(() => document.cookie + JSON.stringify(localStorage));
    if (seen.includes("wm_")) throw new Error(`a script can read ${seen}`);
    noFaults(page, "sign-in");
    await page.close();
  });

  await test("an admin makes keys for others", async () => {
    const page = await watched(browser, address);
    for (const role of ["reader", "writer"]) {
      await page.goto(`${address}/ui/keys`);
      await page.fill("#name", `${role}-of-acme`);
      await page.selectOption("#role", role);
      await page.check("input[name=reach][value=list]");
      await page.fill("#vaults", "acme");
      await page.click("text=Create the key >> nth=-1");
      const key = await page.textContent("#secret code");
      if (role === "reader") reader = key; else writer = key;
    }
    await page.goto(`${address}/ui/keys`);
    await accessible(page, "keys");
    await shot(page, "keys-with-some");
    await page.close();
  });

  await test("a reader sees no form that changes anything, and nothing of another tenant", async () => {
    const own = await launch();
    try {
      const page = await watched(own, address);
      await signIn(page, reader);
      const seen = new Set();
      const queue = ["/ui/", "/ui/vaults/acme", "/ui/vaults/acme/events", "/ui/vaults/acme/search?q=canary"];
      while (queue.length && seen.size < 120) {
        const path = queue.shift();
        if (seen.has(path)) continue;
        seen.add(path);
        const answer = await page.request.get(address + path);
        const html = await answer.text();
        if (html.includes(CANARY)) throw new Error(`${path} shows ${CANARY}`);
        const forms = [...html.matchAll(/<form[^>]*method="post"[^>]*action="([^"]*)"/g)].map(([, action]) => action);
        const changing = forms.filter((action) => action !== "/ui/sign-out");
        if (changing.length) throw new Error(`${path} has ${changing}`);
        for (const [, link] of html.matchAll(/href="(\/ui\/[^"#]*)"/g)) queue.push(link.replaceAll("&amp;", "&"));
      }
      for (const path of [`/ui/vaults/other-${CANARY}`, `/ui/vaults/other-${CANARY}/events`, `/ui/vaults/other-${CANARY}/memories/memory-${CANARY}`, `/ui/vaults/other-${CANARY}/memories/x/edit`, `/ui/vaults/other-${CANARY}/stream`]) {
        const answer = await page.request.get(address + path);
        if (answer.status() !== 404) throw new Error(`${path}: ${answer.status()}`);
        if ((await answer.text()).includes(`text ${CANARY}`)) throw new Error(`${path} shows the text`);
      }
      for (const [path, status] of [["/ui/keys", 403], ["/ui/service", 403], ["/ui/vaults/acme/memories/importer/edit", 403], ["/ui/vaults/acme/memories/importer/delete", 403]]) {
        const answer = await page.request.get(address + path);
        if (answer.status() !== status) throw new Error(`${path}: ${answer.status()}`);
      }
      // A form that the page does not show is refused all the same.
      const html = await (await page.request.get(`${address}/ui/`)).text();
      const token = html.match(/name="form_token" value="([0-9a-f]+)"/)[1];
      const put = await page.request.post(`${address}/ui/vaults/acme/memories/importer/edit`, { form: { form_token: token, text: "x", once: "a", if_match: "" } });
      if (put.status() !== 403) throw new Error(`a reader's put: ${put.status()}`);
      console.log(`     ${seen.size} pages looked through`);
    } finally {
      await own.close();
    }
  });

  await test("a writer writes as itself, and a session ends with its key", async () => {
    const own = await launch();
    const page = await watched(own, address);
    try {
      await signIn(page, writer);
      await page.goto(`${address}/ui/vaults/acme/memories/notes/edit`);
      await page.fill("#text", "written on a page\n");
      await page.click("text=Save as a new version");
      await page.waitForURL("**?done=put");
      const context = await keyed.api(admin).must("GET", "/vaults/acme/memories/notes/context");
      if (context.actor_id !== "writer-of-acme") throw new Error(`written by ${context.actor_id}`);
      const key = writer.split("_")[1];
      const other = await watched(browser, address);
      await other.goto(`${address}/ui/keys/${key}`);
      await other.check("input[name=sure]");
      await other.click("text=Revoke the key");
      await other.waitForURL("**?done=revoked");
      await other.close();
      await page.goto(`${address}/ui/vaults/acme`);
      for (let tries = 0; tries < 20 && !page.url().includes("/ui/sign-in"); tries++) {
        await page.waitForTimeout(200);
        await page.goto(`${address}/ui/vaults/acme`);
      }
      if (!page.url().includes("/ui/sign-in")) throw new Error("the session outlived its key");
    } finally {
      await own.close();
    }
  });

  await test("signing out ends the session, also for whoever copied the cookie", async () => {
    const page = await watched(browser, address);
    await page.goto(`${address}/ui/`);
    const [cookie] = await browser.cookies();
    await page.click("text=Sign out");
    await page.waitForURL("**/ui/sign-in");
    const answer = await fetch(`${address}/ui/`, { redirect: "manual", headers: { cookie: `wm_session=${cookie.value}` } });
    if (answer.status !== 303) throw new Error(`the copied cookie is answered ${answer.status}`);
    await page.close();
  });

  await test("a session counts for pages alone", async () => {
    const page = await watched(browser, address);
    await signIn(page, admin);
    const [cookie] = await browser.cookies();
    const answer = await fetch(`${address}/v1/vaults`, { headers: { cookie: `wm_session=${cookie.value}` } });
    if (answer.status !== 401) throw new Error(`a route takes the cookie: ${answer.status}`);
    await page.close();
  });
  await browser.close();
}
