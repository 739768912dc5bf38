"""Drives the server by the official Python client, as its users do, and prints what it saw as one line of JSON.

Called with one JSON object: `mode` of the client, and `command` with `args` (stdio) or `url` with `token` (HTTP).
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

PICTURE = """
import base64
class Picture:
    def _repr_png_(self):
        return base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
Picture()
"""


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def drive(client, asked):
    """Over HTTP the first call makes a sandbox, and the others name it."""
    sandbox = {}

    async def call(tool, **arguments):
        return await client.call_tool(tool, {**arguments, **sandbox})

    first = await call("run_code", code="x = 41\nprint('hello')")
    handle = first.meta["sandkit/run"]["sandbox"]
    sandbox["sandbox_id"] = handle
    value = await call("run_code", code="x + 1")
    picture = await call("run_code", code=PICTURE)
    command = await call("exec", command="echo from exec")
    written = await call("write_file", path="left.txt", content="left here")
    listed = await client.list_resources()
    file = next(item for item in listed.resources if item.name == "left.txt")
    read = await client.read_resource(str(file.uri))
    wrong = await call("read_file", path="nowhere")
    tools = await client.list_tools()
    return {
        "protocol": client.protocol_version,
        "server": client.server_info and client.server_info.name,
        "tools": [tool.name for tool in tools.tools],
        "state": text_of(value),
        "pictures": [block.mime_type for block in picture.content if block.type == "image"],
        "exec": text_of(command),
        "asked": asked,
        "written": text_of(written),
        "resource": read.contents[0].text,
        "templates": [item.uri_template for item in (await client.list_resource_templates()).resource_templates],
        "wrong": [wrong.is_error, text_of(wrong)],
        "destroyed": text_of(await client.call_tool("destroy_sandbox", {"sandbox_id": handle})),
    }


async def main(setting):
    asked = []

    async def approve(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"approve": True})

    options = {"mode": setting["mode"], "elicitation_callback": approve}
    if "command" in setting:
        server = StdioServerParameters(command=setting["command"], args=setting["args"], env=setting["env"])
        async with Client(server, **options) as client:
            return await drive(client, asked)
    headers = {"Authorization": f"Bearer {setting['token']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(setting["url"], http_client=http), **options) as client:
            return await drive(client, asked)


print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
