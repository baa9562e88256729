import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, redactBlocks } from "../../../src/core/transcript/redact.ts";

// Every secret is invented and put together at run time, so that no scanner takes this file for a leak.
const MIXED = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6";
const LOWER_HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071";
const mixed = (length: number) => MIXED.repeat(4).slice(0, length);
const hex = (length: number) => LOWER_HEX.repeat(4).slice(0, length);
const upper = (length: number) => mixed(length).toUpperCase();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const discordToken = [base64("112233445566778899").replace(/=+$/, ""), "GaBcDe", mixed(38)].join(".");
const telegramToken = `${"123456789"}:AA${mixed(33)}`;
const jwt = [base64('{"alg":"HS256"}'), base64('{"sub":"nobody"}'), mixed(43)].join(".").replaceAll("=", "");
const pem = (kind: string, body: string) => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----`;
const [PEM_BEGIN = "", PEM_END = ""] = pem("PRIVATE KEY", "§").split("\n§\n");
const buffer = (data: string) => ({ type: "Buffer", data });

/** What it is, the text around it with § in its place, the secret. */
const SECRETS: [string, string, string][] = [
  ["Discord bot token", "my bot: §", discordToken],
  ["Discord bot token in quotes", 'client.login("§")', discordToken],
  [
    "Discord token of a 17-digit id",
    "§",
    [base64("11223344556677889").replace(/=+$/, ""), "x-y_Zw", mixed(27)].join("."),
  ],
  ["Discord-like token of another id", "§", [`N${mixed(25)}`, "AbC-12", mixed(38)].join(".")],
  ["Discord user token", "§", `mfa.${mixed(84)}`],
  ["Discord webhook", "https://discord.com/api/webhooks/112233445566778899/§", mixed(68)],
  ["Telegram bot token", "token is §", telegramToken],
  ["Telegram bot token in a URL", "GET https://api.telegram.org/bot§/getMe failed", telegramToken],
  ["Telegram bot token, encoded", "to=bot§&x=1", telegramToken.replace(":", "%3A")],
  ["Telegram token of a short id", "§", `123456:AA${mixed(33)}`],
  ["OpenAI", "§", `sk-${mixed(48)}`],
  ["OpenAI project", "(§)", `sk-proj-${mixed(60)}`],
  ["Anthropic", "key §.", `sk-ant-api03-${mixed(40)}-${mixed(30)}`],
  ["OpenRouter", "§", `sk-or-v1-${hex(64)}`],
  ["GitHub personal", "use §", `ghp_${mixed(36)}`],
  ["GitHub server", "§,", `ghs_${mixed(36)}`],
  ["GitHub fine-grained", "§", `github_pat_${mixed(22)}_${mixed(59)}`],
  ["GitLab", "§", `glpat-${mixed(20)}`],
  ["Slack bot", "§", `xoxb-${"1234567890"}-${"2345678901"}-${mixed(24)}`],
  ["Slack app", "§", `xapp-1-A1B2C3-${mixed(30)}`],
  ["Slack webhook", "https://hooks.slack.com/services/§", `T0000/B0000/${mixed(24)}`],
  ["Google API", "https://maps.example/api?q=x&v=§", `AIza${mixed(35)}`],
  ["Google OAuth access", "§", `ya29.${mixed(60)}`],
  ["Google OAuth refresh", "§", `1//0${mixed(40)}`],
  ["AWS key id", "§", `AKIA${upper(16)}`],
  ["AWS temporary key id", "§", `ASIA${upper(16)}`],
  ["AWS secret", "aws_secret_access_key = §", `${mixed(18)}/${mixed(21)}`],
  ["Tencent", "§", `AKID${mixed(32)}`],
  ["Alibaba", "§", `LTAI${mixed(20)}`],
  ["JWT", "session §", jwt],
  ["Groq", "§", `gsk_${mixed(52)}`],
  ["Perplexity", "§", `pplx-${mixed(48)}`],
  ["Hugging Face", "§", `hf_${mixed(34)}`],
  ["Replicate", "§", `r8_${mixed(37)}`],
  ["xAI", "§", `xai-${mixed(80)}`],
  ["Stripe live", "§", `sk_live_${mixed(24)}`],
  ["Stripe restricted", "§", `rk_test_${mixed(24)}`],
  ["SendGrid", "§", `SG.${mixed(22)}.${mixed(43)}`],
  ["npm", "//registry.npmjs.org/:_authToken=§", `npm_${mixed(36)}`],
  ["PyPI", "§", `pypi-${mixed(60)}`],
  ["DigitalOcean", "§", `dop_v1_${hex(64)}`],
  ["Docker", "§", `dckr_pat_${mixed(27)}`],
  ["Grafana", "§", `glsa_${mixed(32)}_${hex(8)}`],
  ["Fly", "§", `FlyV1 fm2_${mixed(60)}`],
  ["Fernet", "§", `gAAAA${mixed(60)}==`],
  ["Matrix", "§", `syt_${mixed(8)}_${mixed(20)}_${mixed(6)}`],
  ["Bearer", "curl -H 'X: Bearer §'", mixed(24)],
  ["Authorization Bearer, short", "Authorization: Bearer §", mixed(10)],
  ["Authorization Basic", "authorization: Basic §", base64("bob:hunter2")],
  ["Authorization Bot", '"Authorization": "Bot §"', mixed(24)],
  ["header X-Api-Key", "X-Api-Key: §", "swordfish"],
  ["URL password", "postgres://bob:§@db/x", "hunter2"],
  ["URL password without user", "redis://:§@cache:6379/0", "p@ss,word"],
  ["URL query", "https://h.example/cb?state=1&access_token=§&x=2", mixed(12)],
  ["signed URL", "https://h.example/f?Expires=1&sig=§", mixed(30)],
  ["environment", "export STRIPE_SECRET=§", "abcd1234"],
  ["environment, quoted", 'DB_PASSWORD="§"', "correct horse"],
  ["environment, any key", "OUR_OWN_KEY=§", mixed(9)],
  ["YAML", "  password: §", "swordfish"],
  ["ini", "client_secret = §", mixed(20)],
  ["Go", 'token := "§"', "abcdef"],
  ["form body", "grant_type=x&password=§&scope=y", "swordfish"],
  ["flag", "deploy --api-key § --fast", "abcd"],
  ["flag with equals", "run --bot-token=§", mixed(12)],
  ["JSON field", '{"apiKey":"§"}', "hello-world-1234567890"],
  ["JSON field, spaced", '{ "refresh_token" : "§" }', "x y"],
  ["JSON in JSON", JSON.stringify(JSON.stringify({ clientSecret: "§" })), "x/y.z"],
  ["JSON field, cut off", '{"password":"§', "swordfish"],
  ["card number", '{"cardNumber":"§"}', "4242424242424242"],
  ["card code", '{"cvc":"§"}', "123"],
  ["WhatsApp advSecretKey", '{"advSecretKey":"§"}', base64("an invented key of 32 characters")],
  [
    "WhatsApp noiseKey",
    JSON.stringify({ noiseKey: { private: buffer("§"), public: buffer("x") } }),
    base64("noise-private"),
  ],
  [
    "WhatsApp signedIdentityKey, escaped",
    JSON.stringify(JSON.stringify({ signedIdentityKey: { private: buffer("§") } })),
    base64("identity"),
  ],
  ["WhatsApp key pair as printed", "noiseKey: { private: <Buffer §>, public: <Buffer 00> }", "de ad be ef"],
  [
    "WhatsApp key file",
    JSON.stringify({ private: buffer("§"), public: buffer("x") }),
    base64("a private pre-key"),
  ],
  ["WhatsApp pairing code", "Your pairing code is §", "AB12-CD34"],
  ["PEM", pem("RSA PRIVATE KEY", "§"), `${mixed(64)}\n${mixed(40)}==`],
  [
    "PEM with headers",
    pem("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n§"),
    mixed(64),
  ],
  ["PGP", pem("PGP PRIVATE KEY BLOCK", "§"), mixed(64)],
  ["PEM in JSON", JSON.stringify({ pem: pem("PRIVATE KEY", "§") }), mixed(64)],
  ["PEM, cut off", `${PEM_BEGIN}\n§`, `${mixed(64)}\n${mixed(64)}`],
  ["Apple app-specific password", "app-specific password: §", "abcd-efgh-ijkl-mnop"],
];

const LOOK_ALIKES: string[] = [
  "112233445566778899", // Discord ids
  "<@112233445566778899> and <#998877665544332211>",
  "https://discord.com/channels/112233445566778899/223344556677889900/334455667788990011",
  "3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b",
  "urn:uuid:3F2B8C1E-9D4A-4E6F-8A7B-1C2D3E4F5A6B",
  "commit 9fceb02",
  `commit ${hex(40)}`,
  `sha256:${hex(64)}`,
  `sha512-${base64("an ordinary digest, long enough to look like something")}`,
  `md5 ${hex(32)}`,
  base64("Just an ordinary sentence, encoded so that it can travel in a URL."),
  base64('{"hello":"world","list":[1,2,3]}'),
  "+1 555 000 1111",
  "+15550001111",
  "15550001111@s.whatsapp.net",
  "120363025246125486@g.us",
  "203958271640234@lid",
  "15550001111:12@s.whatsapp.net",
  "ISBN 978-3-16-148410-0",
  "$1,299.00 or 1.299,00 €",
  "agent:main:main",
  "agent:main:discord:channel:112233445566778899",
  "agent:main:telegram:group:-1001234567890:topic:99",
  "agent:main:whatsapp:direct:+15550001111",
  "agent:research:subagent:3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b",
  '{"sessionKey":"agent:main:telegram:direct:123456789"}',
  '{"childSessionKey":"agent:main:subagent:3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b"}',
  "SESSION_KEY=agent:main:main",
  "whatsapp:default:15550001111:3EB0C431C26A1916E07A5D",
  "telegram:default:123456789:4242",
  "run 123456789:3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b",
  "1234567:fix-the-login-page-bug-now",
  `idempotency ${hex(32)}:2`,
  "2026-03-14T15:09:26.535Z",
  "1700000000000",
  "192.168.10.254:8080",
  "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
  "https://example.com:8443/path?page=2&sort=asc#top",
  "git@github.com:acme/widgets.git",
  "mailto:ana@example.com",
  "ana:bob@example.com",
  "npm_config_registry and npm_lifecycle_event",
  "sk-learn-pipelines-with-custom-steps",
  "the sk-estimators-for-everyone branch",
  "xoxo-and-many-hugs-to-everybody",
  "hf_hub_download(repo_id)",
  "MyVeryLongNamespaceForBots.Client.SomeQuiteLongInterfaceNameForIt",
  "Object.prototype.hasOwnProperty.call(target, name)",
  "my password is swordfish",
  "I forgot the password, can you reset it?",
  "The token count was 4096 of 8192.",
  "token: a unit of text",
  "max_tokens=4096 and maxTokens: 8192",
  '{"nextPageToken":"CAUQAA","total":12}',
  '{"usage":{"inputTokens":1200,"outputTokens":340}}',
  "interface Login { user: string; password: string; token?: string }",
  "const token = await getToken();",
  "password: z.string().min(8)",
  "apiKey: process.env.OPENAI_API_KEY,",
  "login(user, password=password)",
  "self.password = password",
  "console.log('Secret:', value); ask(\"Password: \")",
  "function sign(privateKey: NodeJS.ArrayBufferView, password: bytes)",
  "encryptionKey = opts?.encryptionKey",
  '{"dependencies":{"@tokenizer/token":"^0.3.0"}}',
  `DB_PASSWORD=$${"{DB_PASSWORD}"}`,
  "TOKEN=$MY_TOKEN",
  "Authorization: Bearer <token>",
  "bearer of good news",
  "the bearer authentication-and-authorization-flow",
  "PRIMARY_KEY=id",
  "key: value, keyboard: qwerty, monkey: 3",
  "secret://vault/path and the-secret-garden",
  "PWD=/home/ana/projects",
  "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
  "use --token-limit 5 and --password-file /run/x",
  "if (token === other || secret != null) return",
  '{"password":{"type":"string"}}',
  "Users::Token::new(1)",
  "https://user@example.com/@name",
  `see ${"ghp"}_ and ${"sk"}- prefixes`,
];

const EXAMPLES: [string, string][] = [
  ["export STRIPE_SECRET=abcd1234", "export STRIPE_SECRET=***"],
  [`use ${"ghp"}_A1b2C3d4E5f6G7h8I9j0K1l2M3n4`, `use ${"ghp"}_A1…M3n4`],
  ["postgres://bob:hunter2@db/x", "postgres://bob:***@db/x"],
  ["Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer abcdef…uvwx"],
  [`${"123456789"}:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc`, "123456…K-bc"],
  ['{"apiKey":"hello-world-1234567890"}', '{"apiKey":"***"}'],
  ["my password is swordfish", "my password is swordfish"],
  ["password: swordfish", "password: ***"],
  [pem("PRIVATE KEY", mixed(64)), pem("PRIVATE KEY", "***")],
  [
    JSON.stringify({ noiseKey: { private: buffer("x") }, registrationId: 7 }),
    '{"noiseKey":"***","registrationId":7}',
  ],
  [
    `GET /bot${telegramToken}/sendMessage`,
    "GET /bot123456…Q7/sendMessage".replace("Q7", telegramToken.slice(-4)),
  ],
  ["a=1&token=x1y2&b=2", "a=1&token=***&b=2"],
];

describe("secrets", () => {
  const redactor = createRedactor();

  it("HIST-5 is tried on at least 60 shapes of secrets and 60 look-alikes", () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(60);
    expect(LOOK_ALIKES.length).toBeGreaterThanOrEqual(60);
  });

  it.each(EXAMPLES)("HIST-5: %s", (text, masked) => {
    expect(redactor.redact(text)).toEqual({ text: masked, redacted: text !== masked });
  });

  it.each(SECRETS)("HIST-5, G03: masked: %s", (_name, around, secret) => {
    const { text, redacted } = redactor.redact(around.replace("§", () => secret));
    expect(text).not.toContain(secret);
    expect(redacted).toBe(true);
    expect(redactor.redact(text)).toEqual({ text, redacted: false });
  });

  it.each(LOOK_ALIKES)("HIST-5, G03: not masked: %s", (text) => {
    expect(redactor.redact(text)).toEqual({ text, redacted: false });
  });
});

describe("registered values", () => {
  it("HIST-5: are masked wherever they stand, the longest first", () => {
    const redactor = createRedactor({ registered: ["our-value", "our-value-and-more-of-it"] });
    redactor.register("a later one");
    expect(redactor.redact("xour-valuex, our-value-and-more-of-it; a later one").text).toBe(
      "x***x, our-va…f-it; ***",
    );
  });

  it("HIST-5: are found with blanks and line breaks in them", () => {
    const redactor = createRedactor({ registered: [discordToken] });
    const wrapped = `${discordToken.slice(0, 30)}\n    ${discordToken.slice(30, 50)} ${discordToken.slice(50)}`;
    expect(redactor.redact(`it is\n${wrapped}\nkeep it`).text).toBe(
      `it is\n${discordToken.slice(0, 6)}…${discordToken.slice(-4)}\nkeep it`,
    );
  });

  it("HIST-5: are not registered when they are shorter than 8 characters", () => {
    const redactor = createRedactor({ registered: ["", "the", "swords1", "a b c d e"] });
    expect(redactor.redact("the swords1 abcde").redacted).toBe(false);
  });

  it("L05: a mask never shows half of an emoji", () => {
    const redactor = createRedactor({ registered: ["12345😀6789012345678😀012"] });
    expect(redactor.redact("12345😀6789012345678😀012").text).toBe("12345…012");
  });
});

describe("texts of one message", () => {
  const redactor = createRedactor({ registered: ["registered-value"] });

  it.each([
    ["a key", `${"ghp"}_${mixed(36)}`],
    ["a key whose first half would be one itself", `sk-${mixed(60)}`],
    ["a Discord token", discordToken],
    ["a Telegram token", telegramToken],
    ["a JWT", jwt],
    ["a registered value", "registered-value"],
  ])("HIST-5, G03: %s is found when it is split over two of them or over two lines", (_name, secret) => {
    for (const at of [Math.floor(secret.length / 2), Math.floor(secret.length / 3)]) {
      const halves = [`it is ${secret.slice(0, at)}`, `${secret.slice(at)} keep it`];
      const blocks = redactBlocks(redactor, halves);
      expect(blocks.redacted).toBe(true);
      expect(blocks.texts).toEqual([redactor.redact(`it is ${secret}`).text, " keep it"]);
      expect(redactBlocks(redactor, blocks.texts)).toEqual({ texts: blocks.texts, redacted: false });
      expect(redactor.redact(halves.join("\n")).text).toBe(redactor.redact(`it is ${secret} keep it`).text);
    }
  });

  it("HIST-5, G03: a PEM block over several of them is masked whole", () => {
    const texts = pem("PRIVATE KEY", `${mixed(64)}\n${hex(64)}`).split("\n");
    expect(redactBlocks(redactor, texts).texts).toEqual([texts[0], "***", "", texts.at(-1)]);
  });

  it("HIST-5: a token at the end of a line does not swallow the next line", () => {
    const token = `${"ghp"}_${mixed(36)}`;
    const lines = [
      token,
      token,
      "PORT2=8080",
      token,
      "Then go on",
      token,
      "3f2b8c1e-9d4a-4e6f-8a7b-1c2d3e4f5a6b",
    ];
    const masked = redactor.redact(token).text;
    expect(redactor.redact(lines.join("\n")).text).toBe(lines.join("\n").replaceAll(token, masked));
  });

  it("HIST-5: as many come back as went in, untouched when there is nothing to mask", () => {
    expect(redactBlocks(redactor, [])).toEqual({ texts: [], redacted: false });
    expect(redactBlocks(redactor, ["a", "", "b\nc"])).toEqual({ texts: ["a", "", "b\nc"], redacted: false });
  });
});

const PIECES = [
  ..."\"':=@/&?{}()\n\\ .,;-_1aZ😀é…",
  ...[
    "sk-",
    `${"gh"}p_`,
    mixed(12),
    mixed(24),
    hex(32),
    "password",
    "token",
    "apiKey",
    "API_KEY",
    ": ",
    "--token ",
    "Bearer ",
  ],
  ...["Authorization: ", "://", "123456789:AA", "eyJ", "***", "abcdef…wxyz", PEM_BEGIN, PEM_END],
  ...[
    "\\n",
    "noiseKey",
    "registered-value",
    "registered",
    "-value",
    "webhooks/12/",
    "pairing code is AB12CD34",
  ],
];
const anyText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
);

describe("any text", () => {
  const redactor = createRedactor({ registered: ["registered-value"] });

  it("HIST-5: masking twice is masking once, the flag is true when something changed, no registered value is left", () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), (texts) => {
        const masked = redactBlocks(redactor, texts);
        expect(masked.redacted).toBe(masked.texts.some((text, index) => text !== texts[index]));
        expect(masked.texts.join("").replace(/\s/g, "")).not.toContain("registered-value");
        expect(redactBlocks(redactor, masked.texts)).toEqual({ texts: masked.texts, redacted: false });
      }),
      { numRuns: 2_000 },
    );
  });

  it("P13: a hostile megabyte is masked in linear time", () => {
    const hostile = [
      "a",
      "sk-",
      "token=a&",
      "://a:b@",
      "eyJaaaaaaaa.",
      PEM_BEGIN,
      "Ab12\n",
      "noiseKey:{",
      "--a-",
    ];
    for (const piece of hostile) {
      const started = performance.now();
      redactor.redact(piece.repeat(1_000_000 / piece.length));
      // A quadratic scan takes minutes; the bound leaves room for a busy machine.
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});
