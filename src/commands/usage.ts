import type { CommandSpec } from "../core/ports/command.ts";

/** `/send [on|off|inherit]` */
export function usageOf(spec: CommandSpec): string {
  const args = spec.args.map((arg) => {
    const values = arg.choices?.join("|") ?? arg.name;
    return arg.required ? `<${values}>` : `[${values}]`;
  });
  return [`/${spec.name}`, ...args].join(" ");
}
