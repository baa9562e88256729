/** What it is, the text around it with § in its place, the secret. */
export type SecretSample = readonly [name: string, around: string, secret: string];

const BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const unpadded = (text: string) => base64(text).replace(/=+$/, "");
const buffer = (data: string) => ({ type: "Buffer", data });

export const pem = (kind: string, body: string) => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----`;

/** Characters as if by chance, the same for the same seed. */
export function bodies(seed: number) {
  let state = seed * 2_654_435_761 + 1;
  const draw = (alphabet: string) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return alphabet[Math.floor((state / 2 ** 32) * alphabet.length)] ?? "";
  };
  const from = (alphabet: string) => (length: number) =>
    Array.from({ length }, () => draw(alphabet)).join("");
  return {
    any: from(BASE62),
    url: from(`${BASE62}-_`),
    upper: from("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    lower: from("abcdefghijklmnopqrstuvwxyz0123456789"),
    hex: from("0123456789abcdef"),
    digits: from("123456789"),
  };
}

/** Tokens as services give them out. Invented, and put together at run time, so that no scanner takes this file for a leak. */
export function secretSamples(seed = 1): readonly SecretSample[] {
  const { any, url, upper, lower, hex, digits } = bodies(seed);
  const discord = [unpadded(digits(18)), url(6), url(37)].join(".");
  const telegram = `${digits(9)}:AA${url(33)}`;
  const jwt = [unpadded('{"alg":"HS256"}'), unpadded(`{"sub":"${lower(9)}"}`), url(43)].join(".");
  const uuid = [8, 4, 4, 4, 12].map(hex).join("-");
  const key = base64(any(32));
  return [
    ["Discord bot", "my bot: §", discord],
    ["Discord bot in code", 'client.login("§")', discord],
    ["Discord bot of a 17-digit id", "§", [unpadded(digits(17)), url(6), url(27)].join(".")],
    ["Discord user", "§", `mfa.${url(84)}`],
    ["Discord webhook", "https://discord.com/api/webhooks/112233445566778899/§", url(68)],
    ["Telegram bot", "token is §", telegram],
    ["Telegram bot in a URL", "GET https://api.telegram.org/bot§/getMe failed", telegram],
    ["Telegram bot, encoded", "to=bot§&x=1", telegram.replace(":", "%3A")],
    ["Telegram bot of a short id", "§", `${digits(6)}:AA${url(33)}`],
    ["OpenAI", "§", `sk-${any(48)}`],
    ["OpenAI project", "§", `sk-proj-${url(120)}`],
    ["OpenAI service account", "§", `sk-svcacct-${url(60)}`],
    ["Anthropic", "§", `sk-ant-api03-${url(93)}AA`],
    ["OpenRouter", "§", `sk-or-v1-${hex(64)}`],
    ["DeepSeek", "§", `sk-${hex(32)}`],
    ["GitHub personal", "use §", `ghp_${any(36)}`],
    ["GitHub in an encoded query", "https://h.example/?q=%22§%22", `ghp_${any(36)}`],
    ["GitHub OAuth", "§", `gho_${any(36)}`],
    ["GitHub server", "§", `ghs_${any(36)}`],
    ["GitHub refresh", "§", `ghr_${any(76)}`],
    ["GitHub fine-grained", "§", `github_pat_${any(22)}_${any(59)}`],
    ["GitLab", "§", `glpat-${url(20)}`],
    ["GitLab, routable", "§", `glpat-${url(27)}.01.${lower(9)}`],
    ["GitLab runner", "§", `glrt-t1_${url(20)}`],
    ["Slack bot", "§", `xoxb-${digits(12)}-${digits(13)}-${any(24)}`],
    ["Slack user", "§", `xoxp-${digits(12)}-${digits(12)}-${digits(13)}-${hex(32)}`],
    ["Slack configuration", "§", `xoxe.xoxp-1-${any(120)}`],
    ["Slack browser", "§", `xoxc-${digits(12)}-${digits(12)}-${hex(64)}`],
    ["Slack app", "§", `xapp-1-A${upper(10)}-${digits(13)}-${hex(64)}`],
    ["Slack webhook", "https://hooks.slack.com/services/§", `T${upper(8)}/B${upper(10)}/${any(24)}`],
    ["Google API", "https://maps.example/api?q=x&v=§", `AIza${url(35)}`],
    ["Google OAuth access", "§", `ya29.${url(120)}`],
    ["Google OAuth refresh", "§", `1//0${url(40)}`],
    ["Google client secret", "§", `GOCSPX-${url(28)}`],
    ["AWS key id", "§", `AKIA${upper(16)}`],
    ["AWS temporary key id", "§", `ASIA${upper(16)}`],
    ["AWS secret", "aws_secret_access_key = §", `${any(18)}/${any(21)}`],
    ["AWS secret in JSON", '{"SecretAccessKey": "§"}', `${any(9)}+${any(30)}`],
    ["AWS session", "AWS_SESSION_TOKEN=§", `FwoGZXIvYXdzE${any(80)}==`],
    ["Azure storage", "AccountName=acme;AccountKey=§;EndpointSuffix=core", base64(any(63))],
    ["Tencent", "§", `AKID${any(32)}`],
    ["Alibaba", "§", `LTAI${any(20)}`],
    ["JWT", "session §", jwt],
    ["JWE", "§", [unpadded('{"alg":"RSA-OAEP"}'), url(60), url(16), url(40), url(22)].join(".")],
    ["Groq", "§", `gsk_${any(52)}`],
    ["Perplexity", "§", `pplx-${any(48)}`],
    ["Hugging Face", "§", `hf_${any(34)}`],
    ["Hugging Face organisation", "§", `api_org_${any(34)}`],
    ["Replicate", "§", `r8_${any(37)}`],
    ["xAI", "§", `xai-${any(80)}`],
    ["Fireworks", "§", `fw_${any(22)}`],
    ["Tavily", "§", `tvly-dev-${any(32)}`],
    ["Exa", "§", `exa_${any(32)}`],
    ["Firecrawl", "§", `fc-${hex(32)}`],
    ["fal", "§", `fal_${any(32)}`],
    ["Browserbase", "§", `bb_live_${url(27)}`],
    ["Mem0", "§", `mem0_${any(32)}`],
    ["Brave", "§", `brv_${any(32)}`],
    ["Apify", "§", `apify_api_${any(36)}`],
    ["Stripe live", "§", `sk_live_${any(24)}`],
    ["Stripe test", "§", `sk_test_51${any(97)}`],
    ["Stripe restricted", "§", `rk_live_${any(24)}`],
    ["Stripe webhook", "§", `whsec_${any(32)}`],
    ["SendGrid", "§", `SG.${url(22)}.${url(43)}`],
    ["npm", "//registry.npmjs.org/:_authToken=§", `npm_${any(36)}`],
    ["PyPI", "§", `pypi-AgEIcHlwaS5vcmc${url(120)}`],
    ["DigitalOcean", "§", `dop_v1_${hex(64)}`],
    ["DigitalOcean refresh", "§", `dor_v1_${hex(64)}`],
    ["Doppler", "§", `dp.pt.${any(43)}`],
    ["Docker", "§", `dckr_pat_${url(27)}`],
    ["Buildkite", "§", `bkua_${hex(40)}`],
    ["CircleCI", "§", `CCIPAT_${any(22)}_${hex(40)}`],
    ["Supabase", "§", `sbp_${hex(40)}`],
    ["Databricks", "§", `dapi${hex(32)}-2`],
    ["Datadog", "§", `ddp_${any(34)}`],
    ["Grafana service account", "§", `glsa_${any(32)}_${hex(8)}`],
    ["Grafana cloud", "§", `glc_${base64(`{"o":"1","n":"${lower(20)}"}`)}`],
    ["Netlify", "§", `nfp_${any(36)}`],
    ["Contentful", "§", `CFPAT-${url(43)}`],
    ["Atlassian", "§", `ATATT3xFfGF0${url(170)}=${upper(8)}`],
    ["Bitbucket", "§", `ATBB${any(24)}${upper(8)}`],
    ["Bitbucket server", "§", `BBDC-${any(44)}`],
    ["Heroku", "§", `HRKU-AA${url(58)}`],
    ["HubSpot", "§", `pat-na1-${uuid}`],
    ["Fly", "§", `FlyV1 fm2_${base64(any(60))}`],
    ["Frame.io", "§", `fio-u-${url(64)}`],
    ["Matrix", "§", `syt_${unpadded(lower(9))}_${any(20)}_${any(6)}`],
    ["Fernet", "§", `gAAAAAB${url(92)}==`],
    ["Bearer", "curl -H 'X: Bearer §'", any(24)],
    ["Authorization Bearer, short", "Authorization: Bearer §", any(10)],
    ["Authorization Basic", "authorization: Basic §", base64(`bob:${lower(8)}`)],
    ["Authorization Bot", '"Authorization": "Bot §"', any(24)],
    ["header X-Api-Key", "X-Api-Key: §", `swordfish${digits(3)}`],
    ["cookie-like header", "X-Auth-Token: §", hex(32)],
    ["URL password", "postgres://bob:§@db/x", `hunter${digits(2)}`],
    ["URL password without user", "redis://:§@cache:6379/0", `p@ss,${lower(6)}`],
    ["URL password of a cluster", "mongodb+srv://app:§@c0.example.net/?retryWrites=true", any(16)],
    ["URL query", "https://h.example/cb?state=1&access_token=§&x=2", any(12)],
    ["signed URL", "https://h.example/f?Expires=1&sig=§", any(30)],
    ["environment", "export STRIPE_SECRET=§", lower(8)],
    ["environment, quoted", 'DB_PASSWORD="§"', `correct ${lower(5)}`],
    ["environment, any key", "OUR_OWN_KEY=§", any(9)],
    ["YAML", "  password: §", `swordfish${lower(2)}`],
    ["ini", "client_secret = §", any(20)],
    ["Go", 'token := "§"', lower(7)],
    ["form body", "grant_type=x&password=§&scope=y", lower(9)],
    ["flag", "deploy --api-key § --fast", lower(6)],
    ["flag with equals", "run --bot-token=§", any(12)],
    ["JSON field", '{"apiKey":"§"}', `hello-world-${digits(10)}`],
    ["JSON field, spaced", '{ "refresh_token" : "§" }', "x y"],
    ["JSON in JSON", JSON.stringify(JSON.stringify({ clientSecret: "§" })), `x/${lower(3)}.z`],
    ["JSON field, cut off", '{"password":"§', lower(9)],
    ["card number", '{"cardNumber":"§"}', "4242424242424242"],
    ["card code", '{"cvc":"§"}', digits(3)],
    ["WhatsApp advSecretKey", '{"advSecretKey":"§"}', key],
    ["WhatsApp noiseKey", JSON.stringify({ noiseKey: { private: buffer("§"), public: buffer("x") } }), key],
    [
      "WhatsApp signedIdentityKey, escaped",
      JSON.stringify(JSON.stringify({ signedIdentityKey: { private: buffer("§") } })),
      key,
    ],
    ["WhatsApp keys as printed", "noiseKey: { private: <Buffer §>, public: <Buffer 00> }", "de ad be ef"],
    [
      "WhatsApp session as printed",
      "pubKey: <Buffer 05 9f>, privKey: <Buffer §>",
      "28 87 a4 1d 95 0f 9c bd dc af",
    ],
    ["WhatsApp session file", JSON.stringify({ rootKey: buffer("§"), registrationId: 7 }), key],
    ["WhatsApp key file", JSON.stringify({ private: buffer("§"), public: buffer("x") }), key],
    ["WhatsApp pairing code", "Your pairing code is §", `${upper(4)}-${upper(4)}`],
    ["WhatsApp pairing code as a field", '{"pairingCode":"§"}', upper(8)],
    ["PEM", pem("RSA PRIVATE KEY", "§"), `${any(64)}\n${any(40)}==`],
    ["PEM of OpenSSH", pem("OPENSSH PRIVATE KEY", "§"), `${any(70)}\n${any(70)}\n${any(20)}=`],
    [
      "PEM with headers",
      pem("EC PRIVATE KEY", `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n§`),
      any(64),
    ],
    ["PGP", pem("PGP PRIVATE KEY BLOCK", "§"), any(64)],
    ["PEM in JSON", JSON.stringify({ private_key: pem("PRIVATE KEY", "§") }), any(64)],
    ["PEM, cut off", pem("PRIVATE KEY", "§").split("\n-----END")[0] ?? "", `${any(64)}\n${any(64)}`],
    ["Apple app-specific password", "app-specific password: §", "abcd-efgh-ijkl-mnop"],
  ];
}

export const [PEM_BEGIN = "", PEM_END = ""] = pem("PRIVATE KEY", "§").split("\n§\n");

export function secretNamed(name: string): string {
  const sample = secretSamples().find(([known]) => known === name);
  if (sample === undefined) throw new Error(`There is no sample "${name}".`);
  return sample[2];
}

const BREAKS = /[\s>]|\\+[nr]/g;
/** A mask shows ten characters of a secret, six and four. */
const WINDOW = 11;

/** Whether more of the secret can be read than a mask shows, however its lines are broken. */
export function leaks(text: string, secret: string): boolean {
  const shown = text.replace(BREAKS, "");
  const dense = secret.replace(BREAKS, "");
  const length = Math.min(WINDOW, dense.length);
  return Array.from({ length: dense.length - length + 1 }, (_, at) => dense.slice(at, at + length)).some(
    (part) => shown.includes(part),
  );
}
