#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A loopback SMTP server for tests, aiosmtpd of Debian with a few ways to misbehave.

smtpd.py DIR MODE [CERT KEY]: writes its port to DIR/port and every mail that it took to DIR/N.eml,
with the envelope in DIR/N.to. MODE: plain, starttls, tls, auth (STARTTLS and a login), refuse (550
after the data), busy (451 to the recipient), drop (hangs up after the data), silent (no answer to it)."""

import asyncio
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Handler:
    def __init__(self, directory, mode):
        self.directory, self.mode, self.n = directory, mode, 0

    def keep(self, envelope):
        self.n += 1
        with open(f"{self.directory}/{self.n}.eml", "wb") as f:
            f.write(envelope.content)
        with open(f"{self.directory}/{self.n}.to", "w", encoding="utf-8") as f:
            f.write(" ".join([envelope.mail_from, *envelope.rcpt_tos]) + "\n")

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.mode == "busy":
            return "451 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.mode == "refuse":
            return "550 not wanted here"
        self.keep(envelope)
        if self.mode == "silent":
            await asyncio.sleep(3600)
        if self.mode == "drop":
            server.transport.abort()
        return "250 taken"


def login(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"ann", b"open sesame")
    return AuthResult(success=good)


async def serve(directory, mode, context):
    options = {}
    if mode in ("starttls", "auth"):
        options = {"tls_context": context, "require_starttls": True}
    if mode == "auth":
        options |= {"authenticator": login, "auth_required": True}
    handler = Handler(directory, mode)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(handler, hostname="localhost", **options), host="127.0.0.1", port=0,
        ssl=context if mode == "tls" else None)
    with open(f"{directory}/port.new", "w", encoding="utf-8") as f:
        f.write(f"{server.sockets[0].getsockname()[1]}\n")
    os.rename(f"{directory}/port.new", f"{directory}/port")
    await server.serve_forever()


def main():
    directory, mode = sys.argv[1:3]
    context = None
    if len(sys.argv) > 3:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
    asyncio.run(serve(directory, mode, context))


if __name__ == "__main__":
    main()
