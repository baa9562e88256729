import { type BinaryNode, jidDecode } from "@whiskeysockets/baileys";
import type { LinkedDevice } from "./creds.ts";
import { type Addressing, Person, type PersonOptions } from "./person.ts";

export interface GroupOptions {
  /** Digits in front of `@g.us`. */
  readonly id: string;
  readonly subject: string;
  readonly members: readonly Person[];
  /** How members are named in this group; WhatsApp moves groups from "pn" to "lid". */
  readonly addressing: Addressing;
}

export class Group {
  readonly jid: string;
  addressing: Addressing;
  subject: string;
  members: readonly Person[];

  constructor({ id, subject, members, addressing }: GroupOptions) {
    this.jid = `${id}@g.us`;
    this.subject = subject;
    this.members = members;
    this.addressing = addressing;
  }

  node(): BinaryNode {
    const attrs = {
      id: this.jid,
      subject: this.subject,
      creation: "1700000000",
      s_t: "1700000000",
      addressing_mode: this.addressing,
      size: String(this.members.length),
    };
    return { tag: "group", attrs, content: this.members.map((member) => this.#participant(member)) };
  }

  #participant(member: Person): BinaryNode {
    const alternative =
      this.addressing === "lid" ? { phone_number: member.jid("pn") } : { lid: member.jid("lid") };
    return { tag: "participant", attrs: { jid: member.jid(this.addressing), ...alternative } };
  }
}

/** Everybody and every group that this WhatsApp knows. */
export class Directory {
  readonly device: LinkedDevice;
  /** The phone that the bot's device is linked to. */
  readonly owner: Person;
  readonly #people: Person[] = [];
  readonly #groups = new Map<string, Group>();

  constructor(device: LinkedDevice) {
    this.device = device;
    this.owner = this.addPerson({ name: "Owner", phone: device.phone, lid: device.lid });
  }

  addPerson(options: PersonOptions): Person {
    const person = new Person(options);
    this.#people.push(person);
    return person;
  }

  addGroup(options: GroupOptions): Group {
    const group = new Group({ ...options, members: [this.owner, ...options.members] });
    this.#groups.set(group.jid, group);
    return group;
  }

  forgetGroup(group: Group): void {
    this.#groups.delete(group.jid);
  }

  person(jid: string | undefined): Person | undefined {
    const { user, server } = jidDecode(jid) ?? {};
    return this.#people.find((person) => (server === "lid" ? person.lid : person.phone) === user);
  }

  group(jid: string | undefined): Group | undefined {
    return this.#groups.get(jid ?? "");
  }

  get groups(): readonly Group[] {
    return [...this.#groups.values()];
  }
}
