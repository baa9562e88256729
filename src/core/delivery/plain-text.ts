import type { MarkedToken } from "marked";
import { decodeReferences } from "./character-references.ts";
import { known } from "./markdown.ts";

/** Inline tokens as one line of text without styles: links as `label (url)`. */
export function plainText(tokens: readonly MarkedToken[]): string {
  return tokens.map(plain).join("");
}

/** A link's text and address: `label (url)`, or the address alone if the label says the same. */
function labelled(label: string, url: string): string {
  return saysSame(label, url) ? url : `${label} (${url})`;
}

export function saysSame(label: string, url: string): boolean {
  return label.trim() === "" || bareAddress(label) === bareAddress(url);
}

function bareAddress(url: string): string {
  return url.replace(/^(?:https?:\/\/|mailto:)/i, "").replace(/\/$/, "");
}

function plain(token: MarkedToken): string {
  switch (token.type) {
    case "link":
      return token.autolink
        ? token.text
        : labelled(plainText(known(token.tokens)), decodeReferences(token.href));
    case "image":
      return labelled(token.text, token.href);
    case "strong":
    case "em":
    case "del":
      return plainText(known(token.tokens));
    case "br":
      return " ";
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? " " : token.raw;
    case "text":
    case "escape":
    case "codespan":
      return token.text;
    default:
      return token.raw;
  }
}
