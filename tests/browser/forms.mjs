// What a person does with forms, at a service that asks for no key: put, conflict, restore, redact, approve, reject,
// delete, try a call.
import { accessible, launch, noFaults, watched } from "./browser.mjs";

export async function forms({ test, open, browser, runs, shot, picture }) {
  const api = open.api();
  const base = `${open.address}/ui/vaults/forms/memories/page`;
  const text = async () => (await api.must("GET", "/vaults/forms/memories/page/context")).context;

  await test("a first document is written, edited, and its text is kept to the byte", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/forms`);
    await page.fill("#memory", "page");
    await page.click("text=Write >> nth=-1");
    await page.fill("#text", "# One\n\n  two  \n\tthree ünï\n");
    await page.click("text=Save as a new version");
    await page.waitForURL("**/memories/page?done=put");
    if ((await text()) !== "# One\n\n  two  \n\tthree ünï\n") throw new Error(JSON.stringify(await text()));
    await api.put("forms", "page", "\r\nfirst line empty\r\nends\r\n");
    await page.goto(`${base}/edit`);
    await page.evaluate(() => document.querySelector("#text").focus());
    await page.keyboard.press("Control+End");
    await page.keyboard.type("more");
    await page.click("text=Save as a new version");
    await page.waitForURL("**?done=put");
    if ((await text()) !== "\r\nfirst line empty\r\nends\r\nmore") throw new Error(JSON.stringify(await text()));
    noFaults(page, "edit");
    await page.close();
  });

  await test("somebody else's change in between is shown and not overwritten", async () => {
    const page = await watched(browser, open.address);
    await api.put("forms", "page", "# Plan\none\n");
    await page.goto(`${base}/edit`);
    await page.fill("#text", "# Plan\nmine\n");
    await api.put("forms", "page", "# Plan\ntheirs\n", { "x-actor-id": "somebody" });
    await page.click("text=Save as a new version");
    await page.waitForSelector("text=Another change was saved first");
    const shown = await page.textContent("main");
    if (!shown.includes("theirs") || !shown.includes("somebody")) throw new Error("their change is not shown");
    if ((await page.inputValue("#text")) !== "# Plan\nmine\n") throw new Error("my text is lost");
    if ((await text()) !== "# Plan\ntheirs\n") throw new Error("their text was overwritten");
    await accessible(page, "conflict");
    await shot(page, "conflict");
    await page.click("text=Save mine over version");
    await page.waitForURL("**?done=put");
    if ((await text()) !== "# Plan\nmine\n") throw new Error("my text was not saved in the end");
    await page.close();
  });

  await test("the edit page tells of a version that is saved meanwhile, and keeps the text", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${base}/edit`);
    await page.waitForSelector("body[data-listens]", { timeout: 15_000 });
    await page.fill("#text", "# Plan\nmine, unsaved\n");
    await api.put("forms", "page", "# Plan\ntheirs again\n", { "x-actor-id": "somebody" });
    await page.waitForSelector("#fresh >> text=by somebody was saved meanwhile", { timeout: 15_000 });
    if ((await page.inputValue("#text")) !== "# Plan\nmine, unsaved\n") throw new Error("the text is lost");
    await accessible(page, "edit, meanwhile");
    await shot(page, "edit-meanwhile");
    noFaults(page, "meanwhile");
    await page.close();
  });

  await test("leaving a changed text is asked about, and Ctrl+Enter saves it", async () => {
    const page = await browser.newPage();
    const asked = [];
    page.on("dialog", (dialog) => { asked.push(dialog.type()); dialog.dismiss(); });
    await page.goto(`${base}/edit`);
    await page.click("#text");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("by the keyboard\n");
    await page.click("text=Leave without saving");
    await page.waitForTimeout(300);
    if (asked.join() !== "beforeunload" || !page.url().endsWith("/edit")) throw new Error(`asked: ${asked}, at ${page.url()}`);
    await page.focus("#text");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL("**?done=put");
    if (asked.length !== 1) throw new Error("saving asked about leaving");
    if (!(await text()).endsWith("by the keyboard\n")) throw new Error(await text());
    await page.goto(`${base}/edit`);
    await page.click("text=Leave without saving");
    await page.waitForURL("**/memories/page");
    if (asked.length !== 1) throw new Error("leaving an unchanged text asked");
    await page.close();
  });

  await test("a learning is added, corrected and archived in place", async () => {
    const page = await watched(browser, open.address);
    await page.goto(base);
    await page.click("summary >> text=Add a learning");
    await page.fill("#add-content", "the disk is small");
    await page.fill("#add-because", "  ");
    await page.click("text=Add the learning");
    await page.waitForSelector("#fault");
    if ((await page.inputValue("#add-content")) !== "the disk is small") throw new Error("what was entered is lost");
    await accessible(page, "a refused learning");
    await shot(page, "add-refused");
    await page.fill("#add-because", "it was full");
    await page.click("text=Add the learning");
    await page.waitForURL("**/records/KL-*?done=added");
    await accessible(page, "a record with its forms");
    await page.fill("#content", "the disk is large");
    await page.fill("#correct-reason", "it was replaced");
    await page.click("text=Save the correction");
    await page.waitForURL("**/records/KL-*?done=corrected");
    await page.fill("#archive-reason", "nobody asks");
    await page.click("text=Archive the record");
    await page.waitForURL("**/records/KL-*?done=archived");
    if (!(await page.textContent("main")).includes("nobody asks")) throw new Error("the reason is not shown");
    noFaults(page, "records");
    await page.close();
  });

  await test("a version is restored and redacted", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${base}/versions/1`);
    await page.fill("#restore-reason", "it was better");
    await page.click("text=Restore as version");
    await page.waitForURL("**?done=restored");
    if (!(await text()).includes("three ünï")) throw new Error("not restored");
    await page.goto(`${base}/versions/3`);
    await page.fill("#redact-reason", "it held a name");
    await page.check("input[name=sure]");
    await page.click("text=Redact version");
    await page.waitForURL("**?done=redacted");
    if (!(await page.textContent("main")).includes("it held a name")) throw new Error("the reason is not shown");
    const gone = await api.ask("GET", "/vaults/forms/memories/page/contexts/3");
    if (gone.status !== 410) throw new Error(JSON.stringify(gone));
    // A form of a page that is out of date by now.
    await page.goto(`${base}/versions/2`);
    await api.put("forms", "page", "meanwhile\n");
    await page.click("text=Restore as version");
    await page.waitForSelector("text=Another change was saved first");
    if ((await text()) !== "meanwhile\n") throw new Error("restored over somebody else's change");
    await page.close();
  });

  await test("a proposal is approved in part, and another one rejected", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/acme/inbox`);
    await accessible(page, "inbox");
    await page.goto(`${open.address}/ui/vaults/acme/memories/importer/updates/${runs.second}`);
    await shot(page, "proposal", { fullPage: true });
    await picture(page, "proposal");
    await page.uncheck(".record:has-text('an empty queue is no fault') input[name=operation]");
    await page.fill("#comment", "only the dial");
    await page.click("text=Approve the selected changes");
    await page.waitForURL("**?done=approved");
    const run = await api.must("GET", `/vaults/acme/memories/importer/updates/${runs.second}`);
    if (run.status !== "approved" || run.outcome.review.operations.length !== 2) throw new Error(JSON.stringify(run.outcome.review));
    const document = (await api.must("GET", "/vaults/acme/memories/importer/context")).context;
    if (document.includes("an empty queue is no fault") || !document.includes("read the dial twice")) throw new Error("not what was chosen");
    await page.goto(`${open.address}/ui/vaults/acme/memories/importer/updates/${runs.proposal}`);
    await page.fill("#reason", "nobody measured it");
    await page.click("text=Reject all of it");
    await page.waitForURL("**?done=rejected");
    if (!(await page.textContent("main")).includes("nobody measured it")) throw new Error("the reason is not shown");
    await page.close();
  });

  await test("a handoff is compiled", async () => {
    const page = await watched(browser, open.address);
    await api.must("PUT", "/vaults/forms/memories/called/context", "from an agent\n");
    await page.goto(`${open.address}/ui/vaults/forms/memories/called/handoff`);
    await page.click("text=Generate the handoff");
    await page.waitForURL("**?done=refreshed");
    noFaults(page, "handoff");
    await page.close();
  });

  await test("a memory is deleted only by its name", async () => {
    const page = await watched(browser, open.address);
    await page.goto(`${open.address}/ui/vaults/forms/memories/called/delete`);
    await page.fill("#name", "another");
    await page.click("text=Delete the memory");
    await page.waitForSelector("#fault >> text=is not the memory's id");
    if ((await page.inputValue("#name")) !== "another") throw new Error("what was entered is lost");
    await page.fill("#name", "called");
    await page.click("text=Delete the memory");
    await page.waitForURL("**/vaults/forms?done=deleted");
    if ((await api.ask("GET", "/vaults/forms/memories/called")).status !== 404) throw new Error("it is still there");
    await page.close();
  });

  await test("forms work without scripts", async () => {
    const plain = await launch([], { javaScriptEnabled: false });
    try {
      const page = await plain.newPage();
      await page.goto(`${base}/edit`);
      await page.fill("#text", "without scripts\n");
      await page.click("text=Save as a new version");
      await page.waitForURL("**?done=put");
      if ((await text()) !== "without scripts\n") throw new Error(await text());
      await page.goto(base);
      await page.focus("#slider");
      await page.keyboard.press("Home");
      await page.click("form.panel >> text=Show");
      await page.waitForURL("**/versions/1");
    } finally {
      await plain.close();
    }
  });
}
