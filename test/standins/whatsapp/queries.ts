import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "@whiskeysockets/baileys";
import type { Directory } from "./directory.ts";

/** The server's answer to one `iq`. What Baileys asks without using the answer gets an empty result. */
export async function answerQuery(iq: BinaryNode, directory: Directory): Promise<BinaryNode> {
  const content = await resultFor(iq, directory);
  const attrs = { id: iq.attrs.id ?? "", from: iq.attrs.to ?? "@s.whatsapp.net" };
  if (content === "item-not-found") {
    const error = { tag: "error", attrs: { code: "404", text: "item-not-found" } };
    return { tag: "iq", attrs: { ...attrs, type: "error" }, content: [error] };
  }
  return { tag: "iq", attrs: { ...attrs, type: "result" }, content };
}

/** The question in short: `<namespace>/<what> <whom>`. */
export function nameOf({ attrs, content }: BinaryNode): string {
  const question = Array.isArray(content) ? content[0]?.tag : "";
  return `${attrs.xmlns}/${question} ${attrs.to}`;
}

async function resultFor(iq: BinaryNode, directory: Directory): Promise<BinaryNode[] | "item-not-found"> {
  const question = Array.isArray(iq.content) ? iq.content[0] : undefined;
  switch (`${iq.attrs.xmlns}/${question?.tag ?? ""}`) {
    // So many that Baileys uploads none (an upload leaves a 30 s timer behind).
    case "encrypt/count":
      return [{ tag: "count", attrs: { value: "1000" } }];
    case "encrypt/digest":
      return [{ tag: "digest", attrs: {} }];
    case "encrypt/key":
      return [{ tag: "list", attrs: {}, content: await keyBundles(question, directory) }];
    case "usync/usync":
      return [usync(question, directory)];
    case "w:g2/query": {
      const group = directory.group(iq.attrs.to);
      return group ? [group.node()] : "item-not-found";
    }
    case "w:g2/participating":
      return [{ tag: "groups", attrs: {}, content: directory.groups.map((group) => group.node()) }];
    case "privacy/privacy":
      return [{ tag: "privacy", attrs: {}, content: [] }];
    case "abt/props":
      return [{ tag: "props", attrs: {}, content: [] }];
    default:
      return [];
  }
}

async function keyBundles(question: BinaryNode | undefined, directory: Directory): Promise<BinaryNode[]> {
  const bundles: BinaryNode[] = [];
  for (const { attrs } of getBinaryNodeChildren(question, "user")) {
    const person = directory.person(attrs.jid);
    if (person && attrs.jid) bundles.push(await person.keyBundle(attrs.jid));
  }
  return bundles;
}

/** Who is this, with which devices, under which LID? A stranger to WhatsApp has no devices. */
function usync(question: BinaryNode | undefined, directory: Directory): BinaryNode {
  const asked = getBinaryNodeChild(question, "query");
  const wanted = new Set(Array.isArray(asked?.content) ? asked.content.map(({ tag }) => tag) : []);
  const users = getBinaryNodeChildren(getBinaryNodeChild(question, "list"), "user");
  const list = users.map((user) => usyncUser(user, wanted, directory));
  return { tag: "usync", attrs: {}, content: [{ tag: "list", attrs: {}, content: list }] };
}

function usyncUser(user: BinaryNode, wanted: ReadonlySet<string>, directory: Directory): BinaryNode {
  const typed = getBinaryNodeChild(user, "contact")?.content?.toString().replace("+", "");
  const jid = user.attrs.jid ?? `${typed}@s.whatsapp.net`;
  const person = directory.person(jid);
  const content: BinaryNode[] = [];
  if (wanted.has("contact")) content.push({ tag: "contact", attrs: { type: person ? "in" : "out" } });
  if (person && wanted.has("devices")) content.push(devices());
  if (person && wanted.has("lid")) content.push({ tag: "lid", attrs: { val: person.jid("lid") } });
  return { tag: "user", attrs: { jid }, content };
}

/** Everybody has a phone and no other device. */
function devices(): BinaryNode {
  const list = { tag: "device-list", attrs: {}, content: [{ tag: "device", attrs: { id: "0" } }] };
  return { tag: "devices", attrs: {}, content: [list] };
}
