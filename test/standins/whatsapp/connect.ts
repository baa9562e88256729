import type { proto, UserFacingSocketConfig, WASocket } from "@whiskeysockets/baileys";
import pino from "pino";
import { type DeviceAuth, memoryAuth } from "./creds.ts";
import { BAILEYS_7, type Library } from "./library.ts";
import type { WhatsAppServer } from "./server.ts";

export interface ConnectOptions {
  /** Default: Baileys 7. */
  readonly library?: Library;
  /** Keep it and pass it again to reconnect as the same device. Default: fresh ones in memory. */
  readonly auth?: DeviceAuth;
  /** Called before anything happens on the socket, where a bot attaches its listeners. */
  readonly attach?: (socket: WASocket) => void;
  readonly config?: Partial<UserFacingSocketConfig>;
}

/** A real Baileys socket, logged in to the stand-in; resolves when it is open and has received what it missed. */
export async function connectWhatsApp(
  server: WhatsAppServer,
  options: ConnectOptions = {},
): Promise<WASocket> {
  const { library = BAILEYS_7, auth = memoryAuth(server.device), attach, config } = options;
  server.linkDevice(auth.creds);
  const sent = new Map<string, proto.IMessage>();
  const socket = library.makeSocket({
    auth,
    // For a phone that could not read a message: Baileys 6 keeps none itself.
    getMessage: async ({ id }) => sent.get(id ?? ""),
    waWebSocketUrl: server.url,
    logger: pino({ level: "silent" }),
    ...library.config,
    ...config,
  });
  if (auth.saveCreds) socket.ev.on("creds.update", auth.saveCreds);
  const { sendMessage } = socket;
  socket.sendMessage = async (...args) => {
    const one = await sendMessage(...args);
    if (one?.key.id && one.message) sent.set(one.key.id, one.message);
    return one;
  };
  attach?.(socket);
  await opened(socket);
  return socket;
}

function opened(socket: WASocket): Promise<void> {
  return new Promise((resolve, reject) => {
    let open = false;
    let caughtUp = false;
    socket.ev.on("connection.update", ({ connection, receivedPendingNotifications, lastDisconnect }) => {
      if (connection === "close") reject(lastDisconnect?.error ?? new Error("closed before it was open"));
      open ||= connection === "open";
      caughtUp ||= receivedPendingNotifications === true;
      if (open && caughtUp) resolve();
    });
  });
}
