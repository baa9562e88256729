/** Other spellings of the two kinds of personal address. */
const canonical: Readonly<Record<string, string>> = {
  "c.us": "s.whatsapp.net",
  hosted: "s.whatsapp.net",
  "hosted.lid": "lid",
};

/** The address without its device (`155…:12@…`), in one spelling; undefined for anything that is not an address. */
export function bareJid(jid: string | null | undefined): string | undefined {
  const [, user, server] = /^([^@:_]+)[^@]*@([^@]+)$/.exec(jid ?? "") ?? [];
  return user && server ? `${user}@${canonical[server] ?? server}` : undefined;
}

export function isGroupJid(jid: string): boolean {
  return jid.endsWith("@g.us");
}

export function isPhoneJid(jid: string): boolean {
  return jid.endsWith("@s.whatsapp.net");
}

/** A LID is opaque: its digits are never a phone number. */
export function isLidJid(jid: string): boolean {
  return jid.endsWith("@lid");
}

/** A person's address: not Meta AI (`1313555….`, `131655500..`), not WhatsApp's own announcements (`0`). */
export function isPersonJid(jid: string): boolean {
  return isLidJid(jid) || (isPhoneJid(jid) && !/^(?:0|1313555\d{4}|131655500\d{2})@/.test(jid));
}

/** true: a phone number and a LID, which may be two addresses of one person. */
export function isPair(one: string, other: string): boolean {
  return (isPhoneJid(one) && isLidJid(other)) || (isLidJid(one) && isPhoneJid(other));
}

/** `+digits` of a phone address. */
export function phoneNumber(phoneJid: string): string {
  return `+${userOf(phoneJid)}`;
}

export function userOf(jid: string): string {
  return jid.slice(0, jid.indexOf("@"));
}
