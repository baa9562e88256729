import { channelTypes } from "../../standins/discord/world.ts";

export const ANN = person("1200000000000000001", "ann", "Ann");
export const BEN = person("1200000000000000002", "ben", "Ben");
export const RADIO = { ...person("1200000000000000003", "radio", null), bot: true };
export const OTHER_ID = "1400000000000000009";
export const CREW_ROLE = "1300000000000000001";

export type Payload = Readonly<Record<string, unknown>>;
/** The rooms of an invented server. */
export const rooms = {
  text: room("1100000000000000001", channelTypes.text),
  announcement: room("1100000000000000002", channelTypes.announcement),
  voice: room("1100000000000000003", channelTypes.voice),
  stage: room("1100000000000000004", channelTypes.stage),
  forum: room("1100000000000000005", channelTypes.forum),
  media: room("1100000000000000006", channelTypes.media),
} as const;

/** The threads in it; clients are not told about all of them. */
export const threads = {
  thread: room("1100000000000000011", channelTypes.publicThread),
  announcementThread: room("1100000000000000012", channelTypes.announcementThread),
  hiddenThread: room("1100000000000000013", channelTypes.privateThread),
  archivedThread: room("1100000000000000014", channelTypes.publicThread),
  forumPost: room("1100000000000000015", channelTypes.publicThread),
  mediaPost: room("1100000000000000016", channelTypes.publicThread),
} as const;

const directs = {
  direct: room("1100000000000000021", channelTypes.direct),
  groupDirect: room("1100000000000000022", channelTypes.groupDirect),
} as const;

const everywhere = { ...rooms, ...threads, ...directs };

let messages = 0n;

function room(id: string, type: number) {
  return { id, type };
}

function person(id: string, username: string, global_name: string | null) {
  return { id, username, global_name, avatar: null, discriminator: "0", public_flags: 0, bot: false };
}

/** A MESSAGE_CREATE as it comes over the wire, in the text channel unless told otherwise. */
export function said(content: string, more: Payload = {}): Payload {
  messages += 1n;
  const roles: readonly string[] = [];
  const member = {
    roles,
    joined_at: "2024-01-01T00:00:00.000000+00:00",
    nick: null,
    deaf: false,
    mute: false,
    flags: 0,
  };
  return {
    id: String(1_400_000_000_000_000_100n + messages),
    channel_id: rooms.text.id,
    channel_type: 0,
    author: ANN,
    member,
    content,
    timestamp: "2025-06-01T10:00:00.123000+00:00",
    edited_timestamp: null,
    tts: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    pinned: false,
    type: 0,
    flags: 0,
    components: [],
    ...more,
  };
}

export function at(name: keyof typeof everywhere): Payload {
  const { id, type } = everywhere[name];
  return { channel_id: id, channel_type: type };
}

export const inDirect = () => ({ ...at("direct"), member: undefined });

export function replied(content: string, original: Payload): Payload {
  const message_reference = { type: 0, channel_id: rooms.text.id, message_id: OTHER_ID };
  return said(content, { type: 19, message_reference, referenced_message: { ...original, id: OTHER_ID } });
}

export function forwarded(original: Payload): Payload {
  return said("", { ...inDirect(), ...forwardedFields(original) });
}

/** What makes a message the forwarded form of another one. */
export function forwardedFields(original: Payload): Payload {
  const { content, timestamp, edited_timestamp, mentions, mention_roles, attachments, embeds, type, flags } =
    said("");
  const shown = { content, timestamp, edited_timestamp, mentions, mention_roles, attachments, embeds, type };
  return {
    flags: 16_384,
    message_reference: { type: 1, channel_id: rooms.text.id, message_id: OTHER_ID },
    message_snapshots: [{ message: { ...shown, flags, ...original } }],
  };
}

export function file(filename: string, size: number, more: Payload = {}): Payload {
  const url = `https://cdn.discordapp.com/attachments/1/2/${filename}`;
  return { id: "1600000000000000001", filename, size, url, proxy_url: url, ...more };
}

export function embed(title: string, description: string | null): Payload {
  return { type: "rich", title, ...(description === null ? {} : { description }) };
}

export const voiceMessage = file("voice-message.ogg", 4096, {
  content_type: "audio/ogg",
  duration_secs: 2.5,
  waveform: "AAAA",
});

export const poll = {
  question: { text: "Lunch?" },
  answers: [
    { answer_id: 1, poll_media: { text: "Soup" } },
    { answer_id: 2, poll_media: { emoji: { id: null, name: "🍕" } } },
  ],
  expiry: "2025-06-02T10:00:00.000000+00:00",
  allow_multiselect: false,
  layout_type: 1,
};
