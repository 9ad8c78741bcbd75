"""The package as it is installed: it loads, quickly, and says which version it is."""

import asyncio
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import oxmcp
from oxmcp import Client

CERTIFICATES = Path(__file__).parents[2] / "core/tests/http_client/certs"
HEAVY = ("asyncio", "msgspec", "typing_extensions", "pydantic", "logging", "json")


def test_version_is_that_of_the_distribution() -> None:
    assert oxmcp.__version__ == version("oxmcp")


def test_import_loads_nothing_heavy() -> None:
    # Imports are most of a cold start, so a server pays for asyncio and msgspec when a handler first needs them.
    code = "import sys, oxmcp; print(*sorted(set(sys.argv[1:]) & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []


SERVER = """
from oxmcp import Server

app = Server("tls")

@app.tool
async def loaded() -> list:
    import sys
    return [name for name in ("ssl", "_ssl", "asyncio.sslproto") if name in sys.modules]

@app.tool
async def speak_tls(folder: str) -> str:
    import asyncio, ssl

    # Both ends by asyncio, which was imported without it.
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ours.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
    theirs = ssl.create_default_context(cafile=f"{folder}/root.pem")
    theirs.verify_flags &= ~ssl.VERIFY_X509_STRICT  # the certificate is a simple one

    async def echo(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(echo, "localhost", 0, ssl=ours) as server:
        port = server.sockets[0].getsockname()[1]
        try:
            await asyncio.open_connection("localhost", port, ssl=True)
        except ssl.SSLCertVerificationError as error:
            refused = error.verify_message
        reader, writer = await asyncio.open_connection("localhost", port, ssl=theirs)
        assert isinstance(writer.get_extra_info("ssl_object"), ssl.SSLObject)
        writer.write(b"over TLS\\n")
        line = await reader.readline()
        writer.close()
    import asyncio.sslproto

    assert asyncio.sslproto is sys.modules["asyncio.sslproto"] and "SSLProtocol" in dir(asyncio.base_events.sslproto)
    assert asyncio.base_events.ssl.SSLContext is ssl.SSLContext
    return f"{line.decode().strip()}; {refused}"

import sys
app.run()
"""


def test_a_server_over_standard_streams_loads_tls_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")

    async def main() -> None:
        async with Client([sys.executable, str(tmp_path / "server.py")]) as client:
            assert (await client.call_tool("loaded")).text == "[]"
            result = await client.call_tool("speak_tls", {"folder": str(CERTIFICATES)})
            assert result.text.startswith("over TLS; "), result.text
            assert (await client.call_tool("loaded")).text == '["ssl","_ssl","asyncio.sslproto"]'

    asyncio.run(main())


def test_an_asyncio_that_is_there_already_is_left_alone() -> None:
    code = "import asyncio, sys; before = dict(sys.modules); from oxmcp._asyncio import load; load(); load(); " + (
        "print(all(sys.modules[name] is module for name, module in before.items()), type(asyncio.sslproto).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True module\n"
