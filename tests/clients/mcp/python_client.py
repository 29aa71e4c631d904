"""The official Python client against a running service: python_client.py http URL | stdio URL PROGRAM."""

import asyncio
import sys

from mcp import Client, StdioServerParameters

TOOLS = {
    "memory_read", "memory_prompt", "memory_edit", "memory_write", "memory_update",
    "memory_consolidate", "memory_record", "memory_handoff", "memory_history", "memory_search", "memory_list",
}


def check(condition, what):
    if not condition:
        raise AssertionError(what)


async def call(client, tool, arguments, **more):
    """A tool that has to succeed; the client itself holds the structured content to the output schema."""
    result = await client.call_tool(tool, arguments, **more)
    check(not result.is_error, f"{tool}: {result.content}")
    return result.structured_content


async def session(make, mode, vault):
    async with make(mode) as client:
        print(f"   {mode}: protocol version {client.protocol_version}")
        tools = (await client.list_tools()).tools
        check({tool.name for tool in tools} == TOOLS, "tools")
        place = {"vault": vault, "memory": "agent"}

        written = await call(client, "memory_write", {**place, "text": "# Description\nThe parser.\n", "if_version": 0})
        check(written["version"] == 1, written)
        read = await call(client, "memory_read", place)
        check(read["context"] == "# Description\nThe parser.\n", read)
        edited = await call(client, "memory_edit", {
            **place,
            "learnings": {"add": [{"reason": "CI has no database", "content": "commit the query data"}]},
            "snippets": {"add": [{"reason": "used daily", "label": "test", "content": "make test\n\techo done"}]},
            "progress": {"in_progress": ["route"]},
        })
        check(edited["status"] == "applied" and not edited["rejected"], edited)
        for record in [
            {"kind": "task", "intent": "parser", "summary": "done", "outcome": {"tests": 60}},
            {"kind": "decision", "decision": "SQL in storage", "reason": "one language"},
            {"kind": "status", "goal": "ship"},
        ]:
            await call(client, "memory_record", {**place, **record})
        steps = []

        async def progress(done, total, message):
            steps.append(message)

        updated = await call(
            client, "memory_update", {**place, "task": "Wire the parser to the route", "wait": True}, progress_callback=progress
        )
        check(updated["status"] in ("applied", "unchanged"), updated)
        check(len(steps) >= 3, f"steps: {steps}")
        queued = await call(client, "memory_update", {**place, "task": "Write the benchmarks"})
        check(queued["status"] == "queued", queued)
        handoff = await call(client, "memory_handoff", {**place, "refresh": True})
        check("## " in handoff["markdown"], handoff)
        for view in [{"view": "log"}, {"view": "diff"}, {"view": "blame"}, {"view": "records", "status": "all"}]:
            await call(client, "memory_history", {**place, **view})
        prompt = await call(client, "memory_prompt", {**place, "max_tokens": 2000})
        check("commit the query data" in prompt["text"], prompt)
        found = await call(client, "memory_search", {"vault": vault, "query": "parser"})
        check(found["items"][0]["memory_id"] == "agent", found)
        check((await call(client, "memory_list", {"vault": vault}))["items"], "list")

        for tool, bad in [
            ("memory_read", {"vault": vault, "memory": "none"}),
            ("memory_read", {"vault": vault, "memory": "agent", "version": "x"}),
            ("memory_read", {"memory": "agent", "vault": 7}),
            ("memory_write", {**place, "text": "x" * 110_000}),
        ]:
            result = await client.call_tool(tool, bad)
            check(result.is_error and "Next: " in result.content[0].text, f"{tool} {bad}: {result}")
        unknown = await client.call_tool("memory_forget", {})
        check(unknown.is_error and "memory_read" in unknown.content[0].text, unknown)

        uri = f"memory://{vault}/agent/context"
        contents = (await client.read_resource(uri)).contents
        check("The parser." in contents[0].text, contents)
        check(len((await client.list_resource_templates()).resource_templates) == 6, "templates")
        check((await client.list_resources()).resources, "resources")
        check({p.name for p in (await client.list_prompts()).prompts} == {"resume", "wrap_up", "review_memory"}, "prompts")
        resumed = await client.get_prompt("resume", {"vault": vault, "memory": "agent"})
        check(any("The parser." in message.content.text for message in resumed.messages), resumed)


async def main():
    transport, url = sys.argv[1:3]

    def make(mode):
        if transport == "http":
            return Client(f"{url}/mcp", mode=mode)
        server = StdioServerParameters(command=sys.argv[3], args=["mcp", "--url", url])
        return Client(server, mode=mode)

    for mode in ["legacy", "auto"]:
        await session(make, mode, f"python-{transport}-{mode}")


asyncio.run(main())
