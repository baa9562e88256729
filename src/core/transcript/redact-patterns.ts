/** A shape of secret. Group 1 stays, group 2 is masked; no character is read more than a bounded number of times. */
export interface SecretPattern {
  readonly pattern: RegExp;
  /** Nothing of it stays visible, however long it is. */
  readonly whole?: true;
}

/** A token begins here, perhaps behind a character that a URL has encoded, or ends here; underscores may be Markdown's. */
const START = /(?<!(?<!%[0-9A-Fa-f])[A-Za-z0-9-]_*)/.source;
const KEY_START = /(?<!(?<!%[0-9A-Fa-f])[A-Za-z0-9])/.source;
const END = /(?!_?[A-Za-z0-9-])/.source;
/** Stands for lower-case words with hyphens between, which are no key: `sk-learn-pipeline`. */
const WORDS = /[a-z]{1,20}(?:-[a-z]{1,20}){0,6}/.source + END;
/** A quote, however often JSON was put into JSON; what a line break became there, or a quoting mark before a line. */
const QUOTE = /\\{0,7}["']/.source;
const BREAK = /(?:[\s>]|\\{1,7}[nr])/.source;

/** Keys by the prefix that their maker gave them, and what follows it: always longer than what a mask leaves of it. */
const PREFIXED_KEYS: readonly (readonly [prefix: RegExp, body: RegExp])[] = [
  [/sk-/, /(?!WORDS)[\w-]{16,}/], // OpenAI, Anthropic, OpenRouter, DeepSeek
  [/gh[oprsu]_/, /[A-Za-z0-9]{20,}/],
  [/github_pat_/, /\w{20,}/],
  [/gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-/, /[\w-]{16,}(?:\.[a-z0-9]{2}\.[a-z0-9]{7,})?/],
  [/xox(?:e\.xox)?[a-eoprs]-/, /(?!WORDS)[\w%-]{10,}/], // Slack
  [/xapp-/, /(?!WORDS)[\w-]{10,}/],
  [/AIza/, /[\w-]{25,}/],
  [/ya29\.|1\/\/0|GOCSPX-/, /[\w-]{20,}/], // Google
  [/A(?:KIA|SIA|BIA|CCA)/, /[A-Z0-9]{16}(?![A-Za-z0-9])/],
  [/AKID/, /[A-Za-z0-9]{13,}/], // Tencent
  [/LTAI/, /[A-Za-z0-9]{12,}/], // Alibaba
  [/[sr]k_(?:live|test)_/, /[A-Za-z0-9]{10,}/], // Stripe
  [/whsec_/, /[\w+/=]{16,}/],
  [/SG\./, /[\w-]{16,}\.[\w-]{16,}/], // SendGrid
  [/npm_|hf_|api_org_|r8_|gsk_|pplx-|xai-|nfp_/, /[A-Za-z0-9]{20,}/], // Hugging Face, Replicate, Groq, Perplexity, xAI, Netlify
  [/pypi-/, /(?!WORDS)[\w-]{24,}/],
  [/f(?:w|pk)_|exa_|fal_|mem0_|brv_|apify_api_/, /[A-Za-z0-9]{16,}/], // Fireworks and others
  [/tvly-/, /(?!WORDS)[\w-]{16,}/],
  [/fc-/, /[a-f0-9]{24,}/], // Firecrawl
  [/bb_live_|CCIPAT_|fio-u-|dckr_[a-z]{3}_/, /[\w-]{16,}/], // Browserbase, CircleCI, Frame.io, Docker
  [/do[opr]_v1_|sbp_/, /[a-f0-9]{20,}/], // DigitalOcean, Supabase
  [/dp\.(?:st|pt|ct|sa|scim|audit)\./, /[\w.-]{16,}/], // Doppler
  [/bkua_/, /[a-z0-9]{20,}/], // Buildkite
  [/dapi/, /[a-f0-9]{32}/], // Databricks
  [/dd[pw]_/, /[A-Za-z0-9]{20,}/], // Datadog
  [/gl(?:sa|c)_|syt_/, /[\w+/=]{20,}/], // Grafana, Matrix
  [/CFPAT-|HRKU-/, /[\w-]{20,}/], // Contentful, Heroku
  [/AT(?:ATT|BB|CTT)/, /[\w=-]{20,}/], // Atlassian
  [/BBDC-/, /[A-Za-z0-9+/]{20,}/],
  [/pat-[a-z]{2}\d-/, /[a-f0-9-]{20,}/], // HubSpot
  [/FlyV1 /, /[\w+/=,-]{16,}/],
  [/gAAAA/, /[\w-]{40,}={0,2}/], // Fernet
];
const PREFIXES = PREFIXED_KEYS.map(([prefix]) => prefix.source).join("|");
const KEYS = PREFIXED_KEYS.map(([prefix, body]) => `(?:${prefix.source})${body.source}`).join("|");

/** Base64 of a Discord id, which is digits. */
const ENCODED_ID = /(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}(?:[MNO](?:[AQgw]|[DTjz][AEIMQUYcgk]))?/.source;

/** Secrets by their own shape. */
export const TOKEN_PATTERNS: readonly SecretPattern[] = [
  { pattern: compile(`${KEY_START}()(${KEYS})`) },
  // Discord bots: an encoded id, or what looks like one, then time and signature
  {
    pattern: compile(
      `${START}()(${ENCODED_ID}\\.[\\w-]{6,7}\\.[\\w-]{27,}|[MNO](?=[\\w-]{0,26}\\d)[\\w-]{22,27}\\.[\\w-]{6,7}\\.(?=[\\w-]*\\d)[\\w-]{27,}|mfa\\.[\\w-]{60,})`,
    ),
  },
  // Telegram bots (looked for by their first character, as that is quickest); neither `<phone>:<hexadecimal message id>` nor `<number>:some-words`
  {
    pattern: compile(
      `(?=[b\\d])${KEY_START}((?:bot)?)(\\d{6,12}(?::|%3A)(?=[\\w-]{20})(?![A-Fa-f0-9-]+${END})(?![a-z0-9]*-[a-z0-9-]*${END})[\\w-]+)`,
    ),
  },
  // JWT, and JWE with or without a key of its own
  {
    pattern: compile(
      `${START}()(eyJ[\\w-]{8,}\\.(?:[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]+){0,2}|\\.[\\w-]{8,}\\.[\\w-]+\\.[\\w-]+))`,
    ),
  },
];

/** No token is without one of these. */
export const TOKEN_HINT = new RegExp(`${PREFIXES}|\\.[\\w-]{6,7}\\.|mfa\\.|\\d(?::|%3A)|eyJ`);

/** Where a token begins, even if too little of it follows to be sure. */
export const TOKEN_START = new RegExp(`^(?:(?:${PREFIXES})[\\w-]{4}|\\d{6,12}:|eyJ)`);

/** Secrets by what stands before them. */
export const CONTEXT_PATTERNS: readonly SecretPattern[] = [
  // PEM: up to the footer, or as many lines of base64 as there are
  {
    pattern: compile(
      `(-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----${BREAK}{0,8})((?=[^\\s\\\\-])[^-]*(?:-(?!----)[^-]*){0,40}(?<![\\s>]|\\\\[nr])(?=${BREAK}{0,8}-----END )|[\\w+/=]{20,}(?:${BREAK}{1,8}[\\w+/=]{20,}){0,400})`,
    ),
    whole: true,
  },
  // WhatsApp key files: {"private":{"type":"Buffer","data":"…"}}
  {
    pattern: compile(
      `("private${QUOTE}\\s*:\\s*\\{\\s*${QUOTE}type${QUOTE}\\s*:\\s*${QUOTE}Buffer${QUOTE}\\s*,\\s*${QUOTE}data${QUOTE}\\s*:\\s*(?:${QUOTE}|\\[))([\\w+/=-](?:[\\w+/=,\\s-]*[\\w+/=-])?)`,
    ),
    whole: true,
  },
  {
    pattern: compile(
      /([Pp]airing[ _-]?[Cc]ode["'\\]{0,8}(?: is|[ \t]*[:=])[ \t]*["'*`\\]{0,8})([A-Z0-9]{4}-?[A-Z0-9]{4})(?![A-Za-z0-9])/,
    ),
  },
  // scheme://user:password@host
  { pattern: compile(/(:\/\/[^\s/:@?#"'<>`]*:)((?![$<{%])[^\s/"'<>`]+)(?=@)/) },
  { pattern: compile(/(webhooks\/\d+\/|hooks\.slack\.com\/[a-z]+\/)([\w/-]{20,})/) },
  { pattern: compile(`(\\bbearer[ \\t]+)((?!WORDS)[\\w.~+/=:-]{18,})`, "i") },
  {
    pattern: compile(
      /(authorization["'\\]{0,8}[ \t]*[:=][ \t]*["'\\]{0,8}(?:bearer|basic|bot|token|digest|apikey)[ \t]+)([\w.~+/=:-]{8,})/,
      "i",
    ),
  },
  {
    pattern: compile(
      /([?&](?:key|sig|signature|auth|x-[a-z]+-(?:signature|credential))=)([^\s&#"'<>…]{16,})/,
      "i",
    ),
  },
  {
    pattern: compile(
      /((?<![\w-])--(?:[a-z][\w-]{0,30}-)?(?:(?:api|access|secret|private|auth)-?key|token|secret|password|passwd|passphrase)(?:[ \t]+|=)["']?)([^\s"'`<>$(){}-][^\s"'`<>]*)/,
      "i",
    ),
  },
  { pattern: compile(/(app[- ]specific password\W{1,5})([a-z]{4}(?:-[a-z]{4}){3})(?![\w-])/, "i") },
];

/** Writes `x{16,}` as `x{16}x*`: only then the engine needs no memory for every step, however long the text. */
function compile(shape: RegExp | string, flags = ""): RegExp {
  const source = typeof shape === "string" ? shape : shape.source;
  const withWords = source.replaceAll("WORDS", WORDS);
  return new RegExp(withWords.replaceAll(/(\[(?:[^\]\\]|\\.)+\]|\\w)\{(\d+),\}/g, "$1{$2}$1*"), `g${flags}`);
}
