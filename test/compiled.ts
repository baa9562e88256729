import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll } from "vitest";

const root = join(import.meta.dirname, "..");
const compiling = new Map<string, Promise<string>>();
let folder: string | undefined;

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/**
 * A TypeScript program as one file of JavaScript, which plain `node` starts in a fraction of the time that a loader takes. Made once
 * in each test file that asks for it, and removed with it. `inlined`: packages that go into the file; the others are found as installed.
 */
export function compiled(program: string, inlined: readonly string[] = []): Promise<string> {
  const known = compiling.get(program);
  if (known !== undefined) return known;
  const made = compile(program, inlined);
  compiling.set(program, made);
  return made;
}

async function compile(program: string, inlined: readonly string[]): Promise<string> {
  // Only here: it takes longer to load than most test files take to run.
  const { build } = await import("vite");
  folder ??= aFolderWithPackages();
  const file = `${basename(program, ".ts")}.js`;
  await build({
    configFile: false,
    root,
    logLevel: "error",
    ssr: { noExternal: [...inlined] },
    build: {
      ssr: true,
      target: "node20",
      minify: false,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { input: program, output: { entryFileNames: file, codeSplitting: false } },
    },
  });
  return join(folder, file);
}

function aFolderWithPackages(): string {
  const made = mkdtempSync(join(tmpdir(), "compiled-"));
  symlinkSync(join(root, "node_modules"), join(made, "node_modules"));
  return made;
}
