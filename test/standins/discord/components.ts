import { z } from "zod";

const button = z
  .object({
    type: z.literal(2),
    style: z.number().int().min(1).max(6),
    label: z.string().min(1).max(80).optional(),
    custom_id: z.string().min(1).max(100).optional(),
    url: z.string().max(512).optional(),
    disabled: z.boolean().optional(),
  })
  .refine(
    ({ style, custom_id, url }) => (style === 5 ? url && !custom_id : custom_id && !url),
    "needs either",
  );

const actionRow = z.object({ type: z.literal(1), components: z.array(button).min(1).max(5) });

/** Rows of buttons as a message may have them: at most five of five, no `custom_id` twice. */
export const componentRows = z
  .array(actionRow)
  .max(5)
  .refine((rows) => {
    const ids = customIds(rows);
    return new Set(ids).size === ids.length;
  }, "COMPONENT_CUSTOM_ID_DUPLICATED");

export type ComponentRows = z.infer<typeof componentRows>;

export function customIds(rows: ComponentRows): string[] {
  return rows.flatMap(({ components }) => components.flatMap(({ custom_id }) => custom_id ?? []));
}

export function labels(rows: ComponentRows): string[] {
  return rows.flatMap(({ components }) => components.flatMap(({ label }) => label ?? []));
}

/** The `custom_id` of the button with this label. What nobody can see nobody can press: an error of the test. */
export function idOfButton(rows: ComponentRows, label: string): string {
  const found = rows.flatMap(({ components }) => components).find((one) => one.label === label);
  if (!found?.custom_id) throw new Error(`There is no button "${label}", only: ${labels(rows).join(", ")}.`);
  return found.custom_id;
}
