import { readFileSync } from "node:fs";
import { join } from "node:path";

const MARK = /<!-- example: ([\w-]+) -->\n(?:```ts\n[\s\S]*?```\n)?/g;

/** The README with what stands between the `#region readme` lines of each named example, and its package imports, as a code block. */
export function withExamples(readme: string, examples: string): string {
  return readme.replace(MARK, (_all, name: string) => {
    const source = readFileSync(join(examples, `${name}.ts`), "utf8");
    const imports = source.split("\n").filter((line) => /^import .*"bot-switchboard/.test(line));
    const region = /^( *)\/\/ #region readme\n([\s\S]*?)^ *\/\/ #endregion/m.exec(source);
    const indent = region?.[1]?.length ?? 0;
    const body = (region?.[2] ?? "").split("\n").map((line) => line.slice(indent));
    return `<!-- example: ${name} -->\n\`\`\`ts\n${[...imports, "", ...body].join("\n").trimEnd()}\n\`\`\`\n`;
  });
}
