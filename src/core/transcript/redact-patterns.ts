/** A shape of secret. Group 1 stays, group 2 is masked; no character is read more than a bounded number of times. */
export interface SecretPattern {
  readonly pattern: RegExp;
  /** Nothing of it stays visible, however long it is. */
  readonly whole?: true;
}

/** Stands for lower-case words with hyphens between, which are no key: `sk-learn-pipeline`. */
const WORDS = /[a-z]{1,20}(?:-[a-z]{1,20}){0,6}(?![\w-])/.source;

/** Keys with a prefix that their maker gave them. A body is always longer than what a mask leaves of it. */
const PREFIXED_KEYS = [
  /sk-(?!WORDS)[\w-]{16,}/, // OpenAI, Anthropic, OpenRouter, DeepSeek
  /gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}/,
  /gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\w-]{16,}/,
  /xox[abeoprs]-(?!WORDS)[\w-]{10,}|xapp-(?!WORDS)[\w-]{10,}/,
  /AIza[\w-]{25,}|ya29\.[\w-]{20,}|1\/\/0[\w-]{20,}|GOCSPX-[\w-]{20,}/,
  /A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
  /AKID[A-Za-z0-9]{13,}|LTAI[A-Za-z0-9]{12,}/, // Tencent, Alibaba
  /[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[\w+/=]{16,}/, // Stripe
  /SG\.[\w-]{16,}\.[\w-]{16,}/,
  /npm_[A-Za-z0-9]{20,}|pypi-(?!WORDS)[\w-]{24,}/,
  /hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}/, // Hugging Face, Replicate
  /gsk_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}/,
  /f(?:w|pk)_[A-Za-z0-9]{16,}|tvly-(?!WORDS)[\w-]{16,}|exa_[A-Za-z0-9]{16,}|fc-[a-f0-9]{24,}|fal_[A-Za-z0-9]{16,}/,
  /bb_live_[\w-]{16,}|mem0_[A-Za-z0-9]{16,}|brv_[A-Za-z0-9]{16,}|apify_api_[A-Za-z0-9]{16,}/,
  /do[opr]_v1_[a-f0-9]{20,}|dp\.(?:st|pt|ct|sa|scim|audit)\.[\w.-]{16,}|dckr_[a-z]{3}_[\w-]{16,}/,
  /bkua_[a-z0-9]{20,}|CCIPAT_\w{16,}|sbp_[a-f0-9]{20,}|dapi[a-f0-9]{32}|dd[pw]_[A-Za-z0-9]{20,}/,
  /gl(?:sa|c)_[\w+/=]{20,}|nfp_[A-Za-z0-9]{20,}|CFPAT-[\w-]{20,}|HRKU-[\w-]{20,}/, // Grafana, Netlify, Contentful, Heroku
  /AT(?:ATT|BB|CTT)[\w=-]{20,}|BBDC-[A-Za-z0-9+/]{20,}/, // Atlassian
  /pat-[a-z]{2}\d-[a-f0-9-]{20,}|FlyV1 [\w+/=,-]{16,}|fio-u-[\w-]{16,}|syt_[\w+/=]{20,}|gAAAA[\w-]{40,}={0,2}/,
].map((key) => key.source);

/** Base64 of a Discord id, which is digits. */
const ENCODED_ID = /(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}(?:[MNO](?:[AQgw]|[DTjz][AEIMQUYcgk]))?/.source;

/** Secrets by their own shape. */
export const TOKEN_PATTERNS: readonly SecretPattern[] = [
  { pattern: compile(`(?<![A-Za-z0-9])()(${PREFIXED_KEYS.join("|")})`) },
  // Discord bots: an encoded id, or what looks like one, then time and signature
  {
    pattern: compile(
      `(?<![\\w-])()((?:${ENCODED_ID}|[MNO](?=[\\w-]*\\d)[\\w-]{22,27})\\.[\\w-]{6,7}\\.(?=[\\w-]*\\d)[\\w-]{27,}|mfa\\.[\\w-]{60,})`,
    ),
  },
  // Telegram bots; neither `<phone>:<hexadecimal message id>` nor `<number>:some-words`
  {
    pattern: compile(
      /(?<![A-Za-z0-9])((?:bot)?)(\d{6,12}(?::|%3A)(?![A-Fa-f0-9-]+(?![\w-]))(?![a-z0-9]*-[a-z0-9-]*(?![\w-]))[\w-]{20,})/,
    ),
  },
  { pattern: compile(/(?<![\w-])()(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})/) },
];

/** Where a token begins, even if too little of it follows to be sure. */
export const TOKEN_START = new RegExp(
  `^(?:${PREFIXED_KEYS.join("|")
    .replaceAll("(?!WORDS)", "")
    .replaceAll(/\{\d+,?\}/g, "{4}")}|\\d{6,12}:|eyJ)`,
);

/** Secrets by what stands before them. */
export const CONTEXT_PATTERNS: readonly SecretPattern[] = [
  // PEM: up to the footer, or as many lines of base64 as there are
  {
    pattern: compile(
      /(-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,8})((?=[^\s\\-])[^-]*(?:-(?!----)[^-]*){0,40}(?<!\s|\\[nr])(?=(?:\s|\\[nr]){0,8}-----END )|[\w+/=]{20,}(?:(?:\s|\\[nr]){1,8}[\w+/=]{20,}){0,400})/,
    ),
    whole: true,
  },
  // WhatsApp key files: {"private":{"type":"Buffer","data":"…"}}
  {
    pattern: compile(
      /("private\\{0,3}"\s*:\s*\{\s*\\{0,3}"type\\{0,3}"\s*:\s*\\{0,3}"Buffer\\{0,3}"\s*,\s*\\{0,3}"data\\{0,3}"\s*:\s*(?:\\{0,3}"|\[))([^"\]\\]+)/,
    ),
  },
  {
    pattern: compile(
      /([Pp]airing[ _-]?[Cc]ode["'\\]{0,4}(?: is|[ \t]*[:=])[ \t]*["'*`\\]{0,4})([A-Z0-9]{4}-?[A-Z0-9]{4})(?![A-Za-z0-9])/,
    ),
  },
  // scheme://user:password@host
  { pattern: compile(/(:\/\/[^\s/:@?#"'<>`]*:)((?![$<{%])[^\s/"'<>`]+)(?=@)/) },
  { pattern: compile(/(webhooks\/\d+\/|hooks\.slack\.com\/[a-z]+\/)([\w/-]{20,})/) },
  { pattern: compile(`(\\bbearer[ \\t]+)((?!WORDS)[\\w.~+/=:-]{18,})`, "i") },
  {
    pattern: compile(
      /(authorization["'\\]{0,4}[ \t]*[:=][ \t]*["'\\]{0,4}(?:bearer|basic|bot|token|digest|apikey)[ \t]+)([\w.~+/=:-]{8,})/,
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
