import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TOP = fileURLToPath(new URL('../../', import.meta.url));

/** A page for readers outside the project. */
export interface Page {
  /** The path from the top folder, with slashes. */
  readonly path: string;
  readonly text: string;
  /** True if a script makes the page from tables in src/. */
  readonly generated: boolean;
}

export interface CodeBlock {
  readonly language: string;
  /** For messages: `docs/tools.md:12`. */
  readonly place: string;
  readonly text: string;
}

export function readPages(): Page[] {
  const docs = readdirSync(join(TOP, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md', ...docs.sort()].map((path) => {
    const text = readFileSync(join(TOP, path), 'utf8');
    return { path, text, generated: text.startsWith('<!-- Generated') };
  });
}

export function codeBlocks({ path, text }: Page): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  text.split('\n').forEach((line, index) => {
    const fence = /^```(\S*)/.exec(line);
    if (open === undefined && fence !== null) open = { language: fence[1]!, line: index + 1, lines: [] };
    else if (open !== undefined && fence !== null) {
      blocks.push({ language: open.language, place: `${path}:${open.line}`, text: open.lines.join('\n') });
      open = undefined;
    } else open?.lines.push(line);
  });
  if (open !== undefined) throw new Error(`${path}:${open.line}: the code block is not closed`);
  return blocks;
}

/** The page without its code blocks, line by line. */
function proseLines({ text }: Page): string[] {
  let inside = false;
  return text.split('\n').map((line) => {
    const isFence = line.startsWith('```');
    if (isFence) inside = !inside;
    return inside || isFence ? '' : line;
  });
}

/** What stands between single backticks, each with its place. */
export function inlineCode(page: Page): { readonly place: string; readonly code: string }[] {
  return proseLines(page).flatMap((line, index) =>
    [...line.matchAll(/`([^`]+)`/g)].map((match) => ({ place: `${page.path}:${index + 1}`, code: match[1]! })),
  );
}

/** Links outside of code, each with its place and its words. */
export function links(page: Page): { readonly place: string; readonly words: string; readonly target: string }[] {
  return proseLines(page).flatMap((line, index) =>
    [...line.replaceAll(/`[^`]*`/g, 'code').matchAll(/(?:\[([^\]]*))?\]\(([^)\s]+)\)/g)].map((match) => ({
      place: `${page.path}:${index + 1}`,
      words: match[1] ?? '',
      target: match[2]!,
    })),
  );
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(page: Page): string[] {
  return proseLines(page)
    .map((line) => /^#{1,6} (.+)$/.exec(line)?.[1])
    .filter((heading) => heading !== undefined)
    .map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
}
