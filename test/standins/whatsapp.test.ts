import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WAMessage, WASocket } from "@whiskeysockets/baileys";
import { afterEach, describe, expect, it } from "vitest";
import { connectWhatsApp } from "./whatsapp/connect.ts";
import { folderAuth, memoryAuth } from "./whatsapp/creds.ts";
import { LIBRARIES, type Library } from "./whatsapp/library.ts";
import { WhatsAppServer } from "./whatsapp/server.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function whatsApp() {
  const server = await new WhatsAppServer().start();
  closing.push(() => server.stop());
  const alice = server.addPerson({ name: "Alice", phone: "15550002222", lid: "990000000000002" });
  return { server, alice };
}

interface Upsert {
  readonly type: string;
  readonly message: WAMessage;
}

/** A bot whose upserts can be awaited one by one. */
async function connectWith(library: Library, server: WhatsAppServer, auth = memoryAuth(server.device)) {
  const upserts: Upsert[] = [];
  let wake = () => {};
  const socket = await connectWhatsApp(server, {
    library,
    auth,
    attach: (sock) =>
      sock.ev.on("messages.upsert", ({ type, messages }) => {
        upserts.push(...messages.map((message) => ({ type, message })));
        wake();
      }),
  });
  closing.push(() => socket.end(undefined));
  const next = async (): Promise<Upsert> => {
    const first = upserts.shift();
    if (first) return first;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    return next();
  };
  return { socket, next, auth };
}

function closed(socket: WASocket): Promise<number | undefined> {
  return new Promise((resolve) => {
    socket.ev.on("connection.update", ({ connection, lastDisconnect }) => {
      // Baileys closes with a Boom, whose status code is the reason.
      const boom = lastDisconnect?.error as { output?: { statusCode: number } } | undefined;
      if (connection === "close") resolve(boom?.output?.statusCode);
    });
  });
}

describe.each(LIBRARIES)("the WhatsApp stand-in, for Baileys $version", (library) => {
  const connect = (server: WhatsAppServer, auth = memoryAuth(server.device)) =>
    connectWith(library, server, auth);

  it("a direct message reaches Baileys in plaintext and Signal-encrypted, and the answer can be read", async () => {
    const { server, alice } = await whatsApp();
    const { socket, next } = await connect(server);
    await server.say(alice, "plain");
    expect((await next()).message.message?.conversation).toBe("plain");
    await server.say(alice, "sealed", { encrypted: true });
    expect((await next()).message.message?.conversation).toBe("sealed");
    const answer = await socket.sendMessage(alice.jid("pn"), { text: "hello Alice" });
    await server.until(() => server.sent.length === 1);
    expect(server.sent[0]).toMatchObject({ to: alice.jid("pn"), text: "hello Alice", id: answer?.key.id });
  });

  it.each(["pn", "lid"] as const)(
    "a group in %s addressing is read and answered with sender keys",
    async (addressing) => {
      const { server, alice } = await whatsApp();
      const ops = server.addGroup({ id: "120363000000000001", subject: "Ops", members: [alice], addressing });
      const { socket, next } = await connect(server);
      await server.say(alice, "in the group", { in: ops });
      const { message } = await next();
      expect(message.key).toMatchObject({
        remoteJid: ops.jid,
        participant: alice.jid(addressing),
        [library.mapsLids ? "participantAlt" : addressing === "pn" ? "participantLid" : "participantPn"]:
          alice.jid(addressing === "pn" ? "lid" : "pn"),
      });
      for (const text of ["first", "second"]) await socket.sendMessage(ops.jid, { text });
      await server.until(() => server.sent.length === 2);
      expect(server.sent.map(({ text }) => text)).toEqual(["first", "second"]);
    },
  );

  it("what was said while the device was away, or not acknowledged, arrives at the next login", async () => {
    const { server, alice } = await whatsApp();
    const first = await connect(server);
    server.loseReceipts = true;
    await server.say(alice, "receipt lost");
    expect((await first.next()).type).toBe("notify");
    first.socket.end(undefined);
    await server.until(() => !server.online);
    server.loseReceipts = false;
    await server.say(alice, "while away");
    const second = await connect(server, first.auth);
    const missed = [await second.next(), await second.next()];
    expect(missed.map(({ type, message }) => [type, message.message?.conversation])).toEqual([
      ["append", "receipt lost"],
      ["append", "while away"],
    ]);
  });

  it("a message that cannot be decrypted comes again after the retry", async () => {
    const { server, alice } = await whatsApp();
    const { next } = await connect(server);
    const id = await server.say(alice, "second attempt", { damaged: true });
    const stub = await next();
    expect(stub.message).toMatchObject({ key: { id }, messageStubType: 2 });
    expect((await next()).message).toMatchObject({
      key: { id },
      message: { conversation: "second attempt" },
    });
  });

  it("a message for nobody is refused, one id is stored once, a refusal can be ordered", async () => {
    const { server, alice } = await whatsApp();
    const { socket } = await connect(server);
    const anyone = socket.sendMessage("15550009999@s.whatsapp.net", { text: "anyone?" });
    // Baileys 6 has no keys to encrypt it with and does not even try.
    if (library.mapsLids) await anyone;
    else await expect(anyone).rejects.toThrow("No sessions");
    const nobody = library.mapsLids ? ["404"] : [];
    await server.until(() => server.refused.length === nobody.length);
    server.refuseNext("479");
    await socket.sendMessage(alice.jid("pn"), { text: "refused" });
    await server.until(() => server.refused.length === nobody.length + 1);
    for (const text of ["once", "twice"])
      await socket.sendMessage(alice.jid("pn"), { text }, { messageId: "3EB0AA" });
    await server.until(() => server.repeated.length === 1);
    expect(server.refused.map(({ error }) => error)).toEqual([...nobody, "479"]);
    expect(server.sent.map(({ text }) => text)).toEqual(["once"]);
  });

  it.each([
    ["before storing", 0],
    ["after storing", 1],
  ] as const)("the connection can break %s: %d message is kept", async (moment, kept) => {
    const { server, alice } = await whatsApp();
    const { socket } = await connect(server);
    const close = closed(socket);
    server.dropAtNext(moment);
    await socket.sendMessage(alice.jid("pn"), { text: "cut off" });
    expect(await close).toBe(428);
    expect(server.sent).toHaveLength(kept);
  });

  it.each([403, 440, 500, 503, 515] as const)("the server can close with %d", async (code) => {
    const { server } = await whatsApp();
    const { socket } = await connect(server);
    const close = closed(socket);
    server.disconnect(code);
    expect(await close).toBe(code);
  });

  it("a device that was unlinked cannot log in again, and neither can a stranger", async () => {
    const { server } = await whatsApp();
    const stranger = memoryAuth({ phone: "15550007777", lid: "990000000000007", device: 1 });
    await expect(connectWhatsApp(server, { library, auth: stranger })).rejects.toMatchObject({
      output: { statusCode: 401 },
    });
    const { socket, auth } = await connect(server);
    const close = closed(socket);
    server.disconnect(401);
    expect(await close).toBe(401);
    await expect(connectWhatsApp(server, { library, auth })).rejects.toMatchObject({
      output: { statusCode: 401 },
    });
  });

  // Baileys 6 repeats a message with the sender key that the phone has already seen.
  it.runIf(library.mapsLids)(
    "a bot killed in a send goes on from its folder: a phone that cannot read the next message asks again",
    async () => {
      const { server, alice } = await whatsApp();
      const ops = server.addGroup({
        id: "120363000000000001",
        subject: "Ops",
        members: [alice],
        addressing: "lid",
      });
      const home = await mkdtemp(join(tmpdir(), "whatsapp-"));
      closing.push(() => rm(home, { recursive: true }));
      const [folder, survived] = [join(home, "live"), join(home, "survived")];
      const first = await connect(server, await folderAuth(server.device, folder));
      await first.socket.sendMessage(ops.jid, { text: "before" });
      await cp(folder, survived, { recursive: true });
      await first.socket.sendMessage(ops.jid, { text: "sent, but its Signal state is not on the disk" });
      await server.until(() => server.sent.length === 2);
      const second = await connect(server, await folderAuth(server.device, survived));
      await second.socket.sendMessage(ops.jid, { text: "after" });
      await server.until(() => server.sent.length === 3);
      expect(server.sent[2]?.text).toBe("after");
      expect(server.askedAgain).toEqual([server.sent[2]?.id]);
    },
  );

  it("a server that was down is the same one when it is up again", async () => {
    const { server, alice } = await whatsApp();
    const first = await connect(server);
    const close = closed(first.socket);
    await server.stop();
    expect(await close).toBe(428);
    await expect(connectWhatsApp(server, { library, auth: first.auth })).rejects.toThrow();
    await server.start();
    const second = await connect(server, first.auth);
    await second.socket.sendMessage(alice.jid("pn"), { text: "back" });
    await server.until(() => server.sent.length === 1);
    expect(server.sent[0]?.text).toBe("back");
  });
});
