import type { WASocket } from "@whiskeysockets/baileys";
import { createSwitchboard, functionAgent } from "bot-switchboard";
import { whatsappAdapter } from "bot-switchboard/whatsapp";

/** Into a Baileys bot: `connect` is what your bot already calls for each new socket. */
export async function addSwitchboard(connect: (onSocket: (socket: WASocket) => void) => Promise<void>) {
  // #region readme
  const whatsapp = whatsappAdapter();
  const board = await createSwitchboard({
    agents: { main: functionAgent(({ text }) => `You said: ${text}`) },
    adapters: [whatsapp],
    owners: { whatsapp: ["+15550002222"] },
  });
  await board.start();
  await connect((socket) => whatsapp.attach(socket)); // for every new socket, right after makeWASocket
  // #endregion
  return board;
}
