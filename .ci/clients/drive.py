"""Draft, confirm, inbox: through the Python SDK's client and the Inspector's, over stdio and HTTP."""

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile

import httpx2
from jsonschema import Draft7Validator, Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

PROGRAM, INSPECTOR = sys.argv[1:3]
# What clients validate with: a schema declares no dialect, and must mean the same in both.
DIALECTS = [Draft7Validator, Draft202012Validator]
ANA, BEN = "ana@example.org", "ben@example.org"


def relaylink(data, *words):
    """Runs the program and gives what it prints."""
    done = subprocess.run([PROGRAM, "--data", data, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Sdk:
    """The Python SDK's client."""

    def __init__(self, mode):
        self.name, self.mode = f"Python SDK ({mode})", mode

    @contextlib.asynccontextmanager
    async def open(self, target, key):
        async with contextlib.AsyncExitStack() as stack:
            if key is None:
                server = StdioServerParameters(command=target[0], args=target[1:])
            else:
                http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
                server = streamable_http_client(target, http_client=await stack.enter_async_context(http))
            yield await stack.enter_async_context(Client(server, mode=self.mode))

    async def tools(self, target, key):
        async with self.open(target, key) as client:
            found = await client.list_tools()
            assert found.next_cursor is None, "all tools come on one page"
            return [tool.model_dump(by_alias=True, exclude_none=True) for tool in found.tools]

    async def call(self, target, key, tool, arguments):
        async with self.open(target, key) as client:
            result = await client.call_tool(tool, arguments)
            return result.is_error, result.structured_content, result.content[0].text


class Inspector:
    """The Inspector's command line."""

    name = "Inspector"

    async def ask(self, target, key, *words):
        command = [INSPECTOR, "--cli"]
        if key is None:
            command += target
        else:
            command += [target, "--transport", "http", "--header", f"Authorization: Bearer {key}"]
        done = await asyncio.create_subprocess_exec(
            *command, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(done.communicate(), 60)
        assert out.strip(), f"{command} said nothing: {err.decode()}"
        return done.returncode, json.loads(out)

    async def tools(self, target, key):
        code, found = await self.ask(target, key, "--method", "tools/list", "--strict")
        assert code == 0, f"the Inspector objects to a schema: exit {code}"
        return found["tools"]

    async def call(self, target, key, tool, arguments):
        pairs = [f"{name}={json.dumps(value) if not isinstance(value, str) else value}" for name, value in arguments.items()]
        words = ["--method", "tools/call", "--tool-name", tool]
        if pairs:
            words += ["--tool-arg", *pairs]
        _, result = await self.ask(target, key, *words)
        return result.get("isError", False), result.get("structuredContent"), result["content"][0]["text"]


async def briefing(client, ana, ben):
    """One briefing from Ana to Ben. Each side is a target and a key."""

    async def call(side, tool, **arguments):
        failed, reply, text = await client.call(*side, tool, arguments)
        assert not failed, f"{tool}: {text}"
        assert json.loads(text) == reply, f"{tool}: the text block and the structured content differ"
        for dialect in DIALECTS:
            dialect(by_name[tool]["outputSchema"]).validate(reply)
        return reply

    tools = await client.tools(*ana)
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    for tool in tools:
        assert hints <= tool["annotations"].keys(), tool["name"]
        assert tool["outputSchema"]["type"] == "object", tool["name"]
        for dialect in DIALECTS:
            dialect.check_schema(tool["inputSchema"])
            dialect.check_schema(tool["outputSchema"])
    by_name = {tool["name"]: tool for tool in tools}
    assert by_name["confirm_send"]["annotations"]["title"] == "Send package (irreversible)"

    request = (await call(ana, "invite_contact", email=BEN))["request"]
    await call(ben, "accept_contact", request=request)
    draft = (await call(ana, "draft_package", to=[BEN], subject="Numbers", body="All is well."))["draft"]
    assert not (await call(ben, "check_inbox"))["packages"], "a draft reaches nobody"
    sent = await call(ana, "confirm_send", draft=draft)
    assert await call(ana, "confirm_send", draft=draft) == sent, "a repeat gives the original ids"
    inbox = (await call(ben, "check_inbox"))["packages"]
    assert [head["subject"]["content"] for head in inbox] == ["Numbers"], inbox
    failed, reply, text = await client.call(*ben, "confirm_send", {"draft": draft})
    assert failed and reply is None and json.loads(text)["code"] == "not_found", text
    return len(tools)


@contextlib.contextmanager
def server(data):
    """The program serving, and its address."""
    command = [PROGRAM, "--data", data, "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        try:
            for line in child.stderr:
                if found := re.search(r"http://127\.0\.0\.1:\d+/mcp", line):
                    yield found[0]
                    return
            raise SystemExit("the server did not say where it listens")
        finally:
            child.terminate()


async def main():
    passed = 0
    for client in [Sdk("auto"), Sdk("legacy"), Inspector()]:
        for transport in ["stdio", "HTTP"]:
            with tempfile.TemporaryDirectory() as data:
                relaylink(data, "account", "create", ANA, "--name", "Ana")
                relaylink(data, "account", "create", BEN, "--name", "Ben")
                if transport == "stdio":
                    side = lambda who: ([PROGRAM, "--data", data, "stdio", "--account", who], None)
                    tools = await briefing(client, side(ANA), side(BEN))
                else:
                    keys = [relaylink(data, "key", "create", who, "--name", "laptop") for who in (ANA, BEN)]
                    with server(data) as url:
                        tools = await briefing(client, (url, keys[0]), (url, keys[1]))
            print(f"{client.name} over {transport}: {tools} tools, draft, confirm, inbox: ok", flush=True)
            passed += 1
    print(f"{passed} passed, 0 failed")


asyncio.run(main())
