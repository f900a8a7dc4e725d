import { posix } from 'node:path';
import { defineModule, file, structured, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';
import { listFolder, readRegularFile, statEntry, writeRegularFile } from './files-below-root.ts';
import { namesOf } from './names-of-path.ts';

const path = z.string().max(4096).describe('Relative to the root, for example "reports/2026/may.md"');
const kind = z.enum(['file', 'folder', 'link', 'other']);

export default defineModule({
  id: 'files',
  version: '1.0.0',
  description: 'Reads and writes files below one root folder, and nothing outside it. Links are not followed.',
  setup: z.object({
    root: z.string().min(1).default('.sallyport/files').describe('Made when it is missing'),
    maxBytes: z
      .int()
      .min(1)
      .max(8 * 1024 * 1024)
      .default(1024 * 1024)
      .describe('Largest file to read or write'),
  }),
  tools: (tool) => ({
    read: tool({
      description: 'Reads a whole file. Text comes as text; anything else comes as a file beside the answer.',
      effect: 'read',
      input: z.object({ path }),
      output: z.object({ path: z.string(), bytes: z.int(), modifiedAt: z.string(), text: z.string().optional() }),
      async run(args, { setup }) {
        const { bytes, modifiedAt } = await readRegularFile(setup.root, namesOf(args.path), setup.maxBytes);
        const facts = { path: args.path, bytes: bytes.byteLength, modifiedAt };
        const text = textOf(bytes);
        return text === undefined ? [structured(facts), file(posix.basename(args.path), bytes)] : { ...facts, text };
      },
    }),

    write: tool({
      description:
        'Writes a whole file and replaces what was there. Missing folders are made. To change a part of a file, read it first and write all of it.',
      // The same content at the same path: a second run changes nothing.
      effect: 'idempotent',
      serial: true,
      input: z.object({
        path,
        content: z.string(),
        encoding: z.enum(['utf8', 'base64']).default('utf8').describe('How content stands for bytes'),
      }),
      output: z.object({ path: z.string(), bytes: z.int() }),
      async run(args, { setup, signal }) {
        const content = bytesOf(args.content, args.encoding);
        await writeRegularFile(setup.root, namesOf(args.path), content, setup.maxBytes, signal);
        return { path: args.path, bytes: content.byteLength };
      },
    }),

    list: tool({
      description: 'Lists the entries of a folder by name. An empty path means the root.',
      effect: 'read',
      input: z.object({ path: path.default(''), limit: z.int().min(1).max(1000).default(200) }),
      output: z.object({
        entries: z.array(z.object({ name: z.string(), kind })),
        more: z.boolean().describe('The folder has more entries than were asked for'),
      }),
      run: (args, { setup }) => listFolder(setup.root, namesOf(args.path), args.limit),
    }),

    stat: tool({
      description: 'Tells what is at a path: its kind, size and time of the last change.',
      effect: 'read',
      input: z.object({ path }),
      output: z.object({ path: z.string(), kind, bytes: z.int(), modifiedAt: z.string() }),
      run: async (args, { setup }) => ({ path: args.path, ...(await statEntry(setup.root, namesOf(args.path))) }),
    }),
  }),
});

/** Undefined if the bytes are not UTF-8 text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function bytesOf(content: string, encoding: 'utf8' | 'base64'): Buffer {
  const bytes = Buffer.from(content, encoding);
  // Buffer.from skips characters that are not base64; an incomplete file must not look like success.
  if (encoding === 'base64' && bytes.toString('base64') !== content) {
    throw new ToolFailure('The content is not base64 with padding and without line breaks.', { code: 'NOT_BASE64' });
  }
  return bytes;
}
